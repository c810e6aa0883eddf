#include "module.hh"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace hyperbaton::bindings {

namespace {
std::vector<std::pair<std::string, RegisterFunction>>& registrations() {
  static std::vector<std::pair<std::string, RegisterFunction>> all;
  return all;
}
}  // namespace

Registration::Registration(const char* name, RegisterFunction function) { registrations().emplace_back(name, function); }

Progress make_progress(const std::optional<nb::callable>& callable) {
  // Without a callable the core still checks for Ctrl-C now and then.
  nb::object call = callable ? nb::object(*callable) : nb::object();
  return [call = std::move(call)](std::size_t done, std::size_t total) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!call.is_valid()) return true;
    const nb::object answer = call(done, total);
    return answer.is_none() || nb::cast<bool>(answer);
  };
}

Room make_room(const std::optional<nb::callable>& callable) {
  if (!callable) return {};
  constexpr std::size_t kSmall = std::size_t{1} << 20;
  return [call = nb::object(*callable)](std::size_t n_bytes) -> std::shared_ptr<std::byte[]> {
    if (n_bytes <= kSmall) return std::shared_ptr<std::byte[]>(new std::byte[n_bytes]);
    const nb::gil_scoped_acquire gil;
    auto* array = new OutArray<std::uint8_t>(nb::cast<OutArray<std::uint8_t>>(call(n_bytes)));
    const auto release = [array](std::byte*) {
      const nb::gil_scoped_acquire held;
      delete array;
    };
    return std::shared_ptr<std::byte[]>(reinterpret_cast<std::byte*>(array->data()), release);
  };
}

}  // namespace hyperbaton::bindings

NB_MODULE(_core, m) {
  using namespace hyperbaton;
  // Leaks at exit, for example after an error, concern only developers of the bindings.
#ifdef NDEBUG
  nb::set_leak_warnings(false);
#endif
  m.doc() = "The compiled core. Private: use the classes and functions of the hyperbaton package.";

  auto error = nb::exception<Error>(m, "HyperbatonError");
  nb::exception<Cancelled>(m, "Cancelled", error);
  // Registered last, so tried first: a LineError carries (message, line) as its arguments.
  static nb::object line_error;
  line_error = nb::exception<LineError>(m, "LineError", error);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const LineError& e) {
      // The message may quote bytes of the file that are not text.
      const std::string_view message(e.what());
      const auto size = static_cast<Py_ssize_t>(message.size());
      const nb::object text = nb::steal(PyUnicode_DecodeUTF8(message.data(), size, "backslashreplace"));
      PyErr_SetObject(line_error.ptr(), nb::make_tuple(text, e.line).ptr());
    } catch (const Damaged& e) {  // the package's own class, which says what to do
      PyErr_SetString(nb::module_::import_("hyperbaton.base.errors").attr("DamagedError").ptr(), e.what());
    }
  });

  auto& all = bindings::registrations();
  std::sort(all.begin(), all.end());
  for (const auto& [name, function] : all) function(m);
}
