#include "lm/score.hh"

#include <algorithm>

namespace hyperbaton {

std::vector<float> score_words(const NgramModel& model, const TokensView& text, unsigned n_threads,
                               const Progress& progress) {
  if (text.offsets.empty() || text.offsets.back() != static_cast<std::int64_t>(text.tokens.size()))
    throw Error("sentence offsets do not match the tokens");
  const auto n_words = model.n_words();
  if (std::any_of(text.tokens.begin(), text.tokens.end(), [&](WordId word) { return word >= n_words; }))
    throw Error("there are tokens that are not in the vocabulary");
  const std::size_t n_sentences = text.offsets.size() - 1;
  std::vector<float> logprobs(text.tokens.size() + n_sentences);
  parallel_chunks(n_sentences, 1000, n_threads, progress, [&](std::size_t begin, std::size_t end) {
    LmState states[2];
    for (std::size_t s = begin; s < end; ++s) {
      auto* out = logprobs.data() + to_size(text.offsets[s]) + s;
      states[0] = model.begin_state();
      unsigned now = 0;
      for (const auto word : text[s]) {
        *out++ = model.score(states[now], word, states[1 - now]);
        now = 1 - now;
      }
      *out = model.score(states[now], model.eos(), states[1 - now]);
    }
  });
  return logprobs;
}

}  // namespace hyperbaton
