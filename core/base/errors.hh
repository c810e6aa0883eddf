// Exceptions of the core. The bindings map each to the Python class of the same name.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace hyperbaton {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A line of input that cannot be used. `line` is 1-based; the caller knows the file.
struct LineError : Error {
  LineError(std::size_t at, const std::string& what) : Error(what), line(at) {}
  std::size_t line;
};

// Stored numbers do not fit each other, found by code that does not know where they are stored.
struct Damaged : Error {
  using Error::Error;
};

// The progress callback asked to stop.
struct Cancelled : Error {
  Cancelled() : Error("cancelled") {}
};

}  // namespace hyperbaton
