// A minimal test framework that needs only a compiler.
//
//     TEST("a gap ends where a covered word begins") {
//       CHECK(covered.next_covered(0) == 3);
//       CHECK_THROWS(Phrase(""), "an empty phrase");
//     }
//
// A failed check prints its location and continues; the exit status of the program says whether all checks passed.
#pragma once

#include <exception>
#include <string_view>

namespace hyperbaton::testing {

using Function = void (*)();
struct Case {
  Case(const char* name, Function function);
};

// Print and count a failure.
void fail(const char* file, int line, const char* what, std::string_view details = {});

template <class Body>
void check_throws(const char* file, int line, const char* what, std::string_view message, const Body& body) {
  try {
    body();
  } catch (const std::exception& error) {
    if (std::string_view(error.what()).find(message) == std::string_view::npos) fail(file, line, what, error.what());
    return;
  }
  fail(file, line, what, "nothing was thrown");
}

}  // namespace hyperbaton::testing

#define HYPERBATON_JOIN_(a, b) a##b
#define HYPERBATON_JOIN(a, b) HYPERBATON_JOIN_(a, b)
#define HYPERBATON_TEST(function, case, name) \
  static void function();                     \
  static const ::hyperbaton::testing::Case case {name, &function}; static void function()
#define HYPERBATON_NUMBERED(number, name) \
  HYPERBATON_TEST(HYPERBATON_JOIN(test_, number), HYPERBATON_JOIN(case_, number), name)
// Not numbered by lines, since several files may be compiled as one.
#define TEST(name) HYPERBATON_NUMBERED(__COUNTER__, name)

#define CHECK(...)                                                                     \
  do {                                                                                 \
    if (!(__VA_ARGS__)) ::hyperbaton::testing::fail(__FILE__, __LINE__, #__VA_ARGS__); \
  } while (false)
// The expected message may be a part of the actual one.
#define CHECK_THROWS(expression, message) \
  ::hyperbaton::testing::check_throws(__FILE__, __LINE__, #expression, message, [&] { (void)(expression); })
