// Copies selected lines of a file byte for byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/counted.hh"
#include "base/errors.hh"
#include "corpus/text.hh"

namespace hyperbaton {

class LineFilter {
 public:
  // Line i is copied if keep[i] != 0.
  explicit LineFilter(std::span<const std::uint8_t> keep) : keep_(keep.begin(), keep.end()) {}

  std::string feed(std::string_view piece) {
    std::string out;
    splitter_.feed(piece, [&](std::string_view line) { add_line(line, out); });
    return out;
  }
  // Throws LineError if there are fewer lines than expected.
  std::string finish() {
    std::string out;
    splitter_.finish([&](std::string_view line) { add_line(line, out); });
    if (n_lines_ < keep_.size())
      throw LineError(n_lines_ + 1, "the file ends after " + counted(n_lines_, "line") + "; the text has " +
                                        std::to_string(keep_.size()));
    return out;
  }

 private:
  void add_line(std::string_view line, std::string& out) {
    if (n_lines_ == keep_.size())
      throw LineError(n_lines_ + 1, "more lines than the " + std::to_string(keep_.size()) + " of the text");
    if (keep_[n_lines_++] == 0) return;
    out.append(line);
    out.push_back('\n');
  }

  std::vector<std::uint8_t> keep_;
  LineSplitter splitter_;
  std::size_t n_lines_ = 0;
};

}  // namespace hyperbaton
