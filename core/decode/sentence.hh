// One sentence in the search: its length, and its translation options numbered from 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/size.hh"
#include "decode/options.hh"

namespace hyperbaton {

class Sentence {
 public:
  Sentence(const TranslationOptions& options, std::size_t number, int n_words)
      : options_(options),
        number_(number),
        n_words_(n_words),
        first_(to_size(options.offsets[number])),
        n_options_(to_size(options.offsets[number + 1]) - first_) {
    targets_.reserve(n_options_);
    for (std::size_t o = 0; o < n_options_; ++o) targets_.push_back(options.target(first_ + o));
  }

  std::size_t number() const { return number_; }  // index within its call
  int n_words() const { return n_words_; }
  std::size_t n_options() const { return n_options_; }
  // The row of an option in the columns of all sentences.
  std::size_t row(std::uint32_t option) const { return first_ + option; }

  SourceSpan source(std::uint32_t option) const {
    const int begin = options_.begin[first_ + option];
    return {begin, begin + options_.length[first_ + option]};
  }
  std::span<const WordId> target(std::uint32_t option) const { return targets_[option]; }
  std::span<const std::span<const WordId>> targets() const { return targets_; }
  std::span<const Link> links(std::uint32_t option) const { return options_.links_of(first_ + option); }
  // Weighted features of the option itself, and with the language models' scores inside the phrase added.
  float score(std::uint32_t option) const { return options_.score[first_ + option]; }
  float estimate(std::uint32_t option) const { return options_.estimate[first_ + option]; }
  std::span<const float> own_values(std::uint32_t option) const {
    return std::span(options_.features).subspan((first_ + option) * options_.n_features, options_.n_features);
  }

 private:
  const TranslationOptions& options_;
  std::size_t number_;
  int n_words_;
  std::size_t first_, n_options_;
  std::vector<std::span<const WordId>> targets_;  // by option
};

}  // namespace hyperbaton
