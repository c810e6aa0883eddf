#include "lm/score.hh"

#include <algorithm>

namespace hyperbaton {

namespace {

// A sentence being scored.
struct Lane {
  std::span<const WordId> words;
  float* out;
  LmState states[2];
  unsigned now = 0;  // which of the two

  WordId next() const { return words.empty() ? NgramModel::kEos : words.front(); }
};

// Several sentences go side by side, so that memory is asked for all of their next words at once.
void score_block(const NgramModel& model, const TokensView& text, std::size_t begin, std::size_t end, float* logprobs) {
  std::vector<Lane> lanes(std::min<std::size_t>(8, end - begin));
  const auto start = [&](Lane& lane, std::size_t s) {
    lane.words = text[s];
    lane.out = logprobs + static_cast<std::size_t>(text.offsets[s]) + s;
    lane.states[lane.now] = model.begin_state();
  };
  std::size_t started = begin;
  for (auto& lane : lanes) start(lane, started++);
  while (!lanes.empty()) {
    for (const auto& lane : lanes) model.prefetch(lane.states[lane.now], lane.next());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      auto& lane = lanes[i];
      *lane.out++ = model.score(lane.states[lane.now], lane.next(), lane.states[1 - lane.now]);
      lane.now = 1 - lane.now;
      if (!lane.words.empty()) {
        lane.words = lane.words.subspan(1);
      } else if (started < end) {
        start(lane, started++);
      } else {
        lane = lanes.back();
        lanes.pop_back();
        --i;
      }
    }
  }
}

}  // namespace

std::vector<float> score_words(const NgramModel& model, const TokensView& text, unsigned n_threads,
                               const Progress& progress) {
  if (text.offsets.empty() || text.offsets.back() != static_cast<std::int64_t>(text.tokens.size()))
    throw Error("sentence offsets do not fit the tokens");
  const auto n_words = model.n_words();
  if (std::any_of(text.tokens.begin(), text.tokens.end(), [&](WordId word) { return word >= n_words; }))
    throw Error("tokens that are not in the vocabulary");
  const std::size_t n_sentences = text.offsets.size() - 1;
  std::vector<float> logprobs(text.tokens.size() + n_sentences);
  parallel_blocks(n_sentences, 1000, n_threads, progress,
                  [&](std::size_t begin, std::size_t end) { score_block(model, text, begin, end, logprobs.data()); });
  return logprobs;
}

}  // namespace hyperbaton
