#include "next_position/jump_logprobs.hh"

#include "base/half.hh"
#include "base/size.hh"
#include "next_position/jump_scores.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kSentencesOfLogprobs = 32;

template <std::size_t Planes, class Value>
void write_all(const TaggedText& text, const JumpFeatures& features, const Value* weights,
               std::span<const std::int64_t> starts, double* out, unsigned n_threads, const Progress& progress) {
  parallel_chunks(text.size(), kSentencesOfLogprobs, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    PositionParts parts;
    JumpScores<Planes> scores({.remaining = false, .first_class = 0});
    JumpLists lists;
    for (std::size_t s = begin; s < end; ++s) {
      lists.counts.clear();
      lists.ids.clear();
      features.append(text, s, parts, lists);
      scores.score({text.words[s].size(), lists.counts.data(), lists.ids.data(), lists.ids.size()},
                   ValuesOfFeatures<Planes, const Value>{weights}, {});
      scores.write_logprobs(out + starts[s]);
    }
  });
}

}  // namespace

std::vector<std::int64_t> jump_starts(std::span<const std::int64_t> offsets) {
  std::vector<std::int64_t> starts{0};
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    const std::int64_t side = offsets[s + 1] - offsets[s] + 1;
    starts.push_back(starts.back() + side * side);
  }
  return starts;
}

template <class Value>
void jump_logprobs(const TaggedText& text, const JumpFeatures& features, std::span<const Value> weights, std::size_t planes,
                   std::span<double> logprobs, unsigned n_threads, const Progress& progress) {
  const auto starts = jump_starts(text.words.offsets);
  if (logprobs.size() != to_size(starts.back())) throw Error("the output does not match the text");
  if (planes == 1)
    write_all<1>(text, features, weights.data(), starts, logprobs.data(), n_threads, progress);
  else
    write_all<3>(text, features, weights.data(), starts, logprobs.data(), n_threads, progress);
}

template void jump_logprobs(const TaggedText&, const JumpFeatures&, std::span<const double>, std::size_t, std::span<double>,
                            unsigned, const Progress&);
template void jump_logprobs(const TaggedText&, const JumpFeatures&, std::span<const Half>, std::size_t, std::span<double>,
                            unsigned, const Progress&);

}  // namespace hyperbaton
