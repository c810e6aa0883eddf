// Runs all tests, or those whose names contain an argument.
#include "testing/testing.hh"

#include <cstdio>
#include <vector>

namespace hyperbaton::testing {

namespace {

struct Entry {
  const char* name;
  Function function;
};
std::vector<Entry>& entries() {
  static std::vector<Entry> all;
  return all;
}
int n_failures = 0;

}  // namespace

Case::Case(const char* name, Function function) { entries().push_back({name, function}); }

void fail(const char* file, int line, const char* what, std::string_view details) {
  ++n_failures;
  std::fprintf(stderr, "%s:%d: failed: %s%s%.*s\n", file, line, what, details.empty() ? "" : ": ",
               static_cast<int>(details.size()), details.data());
}

}  // namespace hyperbaton::testing

int main(int n_arguments, char** arguments) {
  using namespace hyperbaton::testing;
  int n_run = 0;
  for (const auto& entry : entries()) {
    if (n_arguments > 1 && std::string_view(entry.name).find(arguments[1]) == std::string_view::npos) continue;
    ++n_run;
    const int before = n_failures;
    try {
      entry.function();
    } catch (const std::exception& error) {
      fail(entry.name, 0, "threw", error.what());
    }
    if (n_failures > before) std::fprintf(stderr, "in the test: %s\n", entry.name);
  }
  std::printf("%d tests, %d failed checks\n", n_run, n_failures);
  return n_failures == 0 && n_run > 0 ? 0 : 1;
}
