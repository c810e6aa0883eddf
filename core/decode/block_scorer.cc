#include "decode/block_scorer.hh"

#include <deque>

#include "base/size.hh"

namespace hyperbaton {

namespace {

// The state after a step: last source word + 1, and the last two target words, which share one number if no feature can
// distinguish them.
constexpr unsigned kWordBits = 24;
constexpr std::uint64_t kWordMask = (std::uint64_t{1} << kWordBits) - 1;

std::int64_t pack(const PathState& state) {
  const auto word = [](WordId w) { return std::min<std::uint64_t>(w, kWordMask); };
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(state.last + 1) << 2 * kWordBits |
                                   word(state.last_target) << kWordBits | word(state.second_last_target));
}

void unpack(std::int64_t packed, PathState& state) {
  const auto bits = static_cast<std::uint64_t>(packed);
  const auto word = [](std::uint64_t w) { return w == kWordMask ? kSentenceEdge : static_cast<WordId>(w); };
  state.last = static_cast<int>(bits >> 2 * kWordBits) - 1;
  state.last_target = state.last < 0 ? kSentenceEdge : word(bits >> kWordBits & kWordMask);
  state.second_last_target = state.last < 0 ? kSentenceEdge : word(bits & kWordMask);
}

constexpr std::size_t kStraight = jump_class(0, 1);  // to the next word

}  // namespace

class BlockScorer::Sentence {
 public:
  Sentence(const BlockScorer& scorer, std::size_t s)
      : model_(scorer.model_), sentence_(scorer.text_[s]), first_option_(scorer.options_.offsets[s]) {
    const auto& options = scorer.options_;
    PathFinder finder;
    std::vector<WordId> words;
    for (auto o = to_size(first_option_); o < to_size(options.offsets[s + 1]); ++o) {
      const int begin = options.begin[o];
      const auto& path = finder.find(options.links[o], options.length[o]);
      options_.push_back({options.targets[o], begin, static_cast<std::uint32_t>(steps_.size())});
      for (const auto& step : path.steps) {
        words.clear();
        for (const auto position : path.targets_of(step)) words.push_back(options.targets[o][position]);
        const auto at = place({step.source.begin + begin, step.source.end + begin});
        steps_.push_back(step);
        blocks_.push_back({at, model_.target(places_[at].place, words)});
      }
    }
    options_.push_back({{}, 0, static_cast<std::uint32_t>(steps_.size())});
  }

  // Starts from the state and leaves it after the option.
  double score(std::int64_t option) {
    const Option* chosen = &options_[to_size(option - first_option_)];
    const auto steps = std::span(steps_).subspan(chosen->first, chosen[1].first - chosen->first);
    const Block* block = &blocks_[chosen->first];
    double total = 0;
    walk(steps, chosen->begin, sentence_.size(), chosen->target, state,
         [&](const PathStep&, SourceSpan, std::size_t jump, const History& history) {
           total += row(places_[block->place], block->target, history)[jump];
           ++block;
         });
    return total;
  }

  double estimate(std::int64_t option) {
    const Option* chosen = &options_[to_size(option - first_option_)];
    double total = 0;
    for (auto k = chosen->first; k < chosen[1].first; ++k) {
      const auto& place = places_[blocks_[k].place].place;
      total += model_.logprobs(place, {}, changes_, {place.sum, 0, 0}, blocks_[k].target)[kStraight];
    }
    return total;
  }

  PathState state;

 private:
  struct Option {
    std::span<const WordId> target;
    int begin;
    std::uint32_t first;  // index of its first step; they end at the next option's first
  };
  struct Block {
    std::size_t place;
    BlockTarget target;
  };
  // A place with its cached results.
  struct Known {
    BlockModel::Place place;
    SourceSpan seen;     // words whose coverage matters
    U64Map words;        // number of the last two target words: 0 if no feature contains them
    U64Map contexts;     // their numbers by the features that contain them
    U64Map tag_effects;  // by question
    U64Map scored;       // by words and coverage of nodes
    U64Map rows;         // by words, coverage of nodes and target
    U64Map seen_rows;    // by words, coverage of words and target
    std::uint32_t n_words = 0;
  };

  std::size_t place(SourceSpan span) {
    const auto [at, there] =
        by_span_.find_or_add(static_cast<std::uint64_t>(span.begin) << 32 | static_cast<std::uint32_t>(span.end));
    if (!there) {
      *at = static_cast<std::uint32_t>(places_.size());
      auto& known = places_.emplace_back();
      known.place = model_.place(sentence_, span);
      known.seen = {std::max(span.begin - 1, 0), std::min(span.end + 1, sentence_.size())};
      if (const auto& around = known.place.around; around.any)
        known.seen = {std::min(known.seen.begin, around.parent.begin), std::max(known.seen.end, around.parent.end)};
    }
    return *at;
  }

  // The coverage of all words that questions look at.
  static std::uint64_t seen(const Known& known, const Coverage& covered) {
    std::uint64_t key = 0;
    for (int i = known.seen.begin; i < known.seen.end; i += 64)
      key = combine(key, covered.bits({i, std::min(i + 64, known.seen.end)}));
    return key;
  }

  // Everything that the answers of the moving questions about coverage depend on.
  std::uint64_t situation(const Known& known, const Coverage& covered) {
    const auto& place = known.place;
    std::uint64_t bits = 1;
    const auto push = [&](std::uint64_t answer) { bits = (bits >> 62) != 0 ? combine(bits, answer) : bits << 2 | answer; };
    push((place.span.begin > 0 && covered[place.span.begin - 1] ? 1u : 0u) |
         (place.span.end < sentence_.size() && covered[place.span.end] ? 2u : 0u));
    if (place.around.any) {
      push(static_cast<std::uint64_t>(node_coverage(covered, place.around.parent)));
      for (const auto& sibling : place.around.siblings)
        push(static_cast<std::uint64_t>(node_coverage(covered, sibling.span)));
    }
    return bits;
  }

  BlockModel::Effect effect(Known& known, const Question& question) {
    if (!about_tags(question.ask)) return model_.effect(known.place, question, made_);
    const auto [at, there] = known.tag_effects.find_or_add(question.key());
    if (!there) {
      *at = static_cast<std::uint32_t>(tag_effects_.size());
      model_.effect(known.place, question, tag_effects_.emplace_back());
    }
    return tag_effects_[*at];
  }

  // Words that no feature distinguishes have one number. A feature with both words is at most as frequent as with the
  // last alone.
  std::uint32_t words(Known& known, const History& history) {
    const auto source = known.place.source;
    if (!has(model_.families(), BlockFamily::Context) || source == kNone32) return 0;
    const auto [number, there] =
        known.words.find_or_add(static_cast<std::uint64_t>(history.last) << 32 | history.second_last);
    if (there) return *number;
    *number = 0;
    if (model_.knows({Ask::PreviousTarget, source, history.last, 0})) {
      const Question both{Ask::PreviousTargets, source, history.last, history.second_last};
      const auto [own, known_already] =
          known.contexts.find_or_add(model_.knows(both) ? both.key() : static_cast<std::uint64_t>(history.last));
      if (!known_already) *own = ++known.n_words;
      *number = *own;
    }
    return *number;
  }

  const JumpRow& row(Known& known, const BlockTarget& target, const History& history) {
    // Targets that are not candidates are distinguished by number and tag: unknown ones with the same tag are equal.
    const std::uint64_t which = target.candidate != kNone32
                                    ? target.candidate
                                    : combine(static_cast<std::uint64_t>(target.target) << 32 | target.tag, 1);
    const auto asked = combine(which, words(known, history));
    const auto [at, there] = known.seen_rows.find_or_add(combine(asked, seen(known, history.covered)));
    if (!there) *at = find_row(known, target, history, asked);
    return rows_[*at];
  }

  std::uint32_t find_row(Known& known, const BlockTarget& target, const History& history, std::uint64_t asked) {
    const auto here = situation(known, history.covered);
    const auto [at, there] = known.rows.find_or_add(combine(asked, here));
    if (there) return *at;
    *at = static_cast<std::uint32_t>(rows_.size());
    const auto heard = words(known, history);
    const auto [number, scored] = known.scored.find_or_add(combine(heard, here));
    if (!scored || target.candidate == kNone32) {
      questions_.clear();
      ask_moving(sentence_, known.place.span, known.place.around, known.place.source, history, model_.families(),
                 questions_);
    }
    if (!scored) {
      *number = static_cast<std::uint32_t>(scored_.size());
      effects_.clear();
      for (const auto& question : questions_)
        if (heard != 0 || (question.ask != Ask::PreviousTarget && question.ask != Ask::PreviousTargets))
          if (const auto change = effect(known, question); !change.empty()) effects_.push_back(change);
      scored_.push_back(model_.score(known.place, effects_, changes_));
    }
    rows_.push_back(model_.logprobs(known.place, questions_, changes_, scored_[*number], target));
    return *at;
  }

  const BlockModel& model_;
  const BlockSentence sentence_;
  const std::int64_t first_option_;
  std::vector<Option> options_;
  std::vector<PathStep> steps_;  // of all options
  std::vector<Block> blocks_;    // of all options
  U64Map by_span_;
  std::vector<Known> places_;
  std::deque<std::vector<BlockModel::Term>> tag_effects_;
  std::vector<BlockModel::Scored> scored_;
  BlockModel::Changes changes_;
  std::vector<JumpRow> rows_;
  std::vector<Question> questions_;
  std::vector<BlockModel::Effect> effects_;
  std::vector<BlockModel::Term> made_;
};

void BlockOptions::check(const BlockText& text) const {
  const std::size_t n = begin.size();
  if (offsets.size() != text.size() + 1 || offsets.back() != static_cast<std::int64_t>(n) || length.size() != n ||
      targets.offsets.size() != n + 1 || links.offsets.size() != n + 1)
    throw Error("the columns of the options do not match");
  for (std::size_t s = 0; s < text.size(); ++s)
    for (auto o = to_size(offsets[s]); o < to_size(offsets[s + 1]); ++o) {
      if (begin[o] + length[o] > static_cast<int>(text.words[s].size()))
        throw Error("an option is out of range for its sentence");
      for (const auto link : links[o])
        if (link.source >= length[o] || link.target >= targets[o].size())
          throw Error("a link is out of range for its phrase pair");
    }
}

BlockScorer::BlockScorer(const BlockModel& model, const BlockText& text, const BlockOptions& options)
    : model_(model), text_(text), options_(options), sentences_(text.size()) {
  text.check();
  options.check(text);
}

BlockScorer::~BlockScorer() = default;

BlockScorer::Sentence& BlockScorer::sentence(std::size_t s) const {
  if (!sentences_[s]) sentences_[s] = std::make_unique<Sentence>(*this, s);
  return *sentences_[s];
}

void BlockScorer::score(const StepBatch& steps, std::span<float> scores, std::span<std::int64_t> states) const {
  auto& own = sentence(steps.sentence);
  const std::size_t n = Coverage::n_words(steps.n_words);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    unpack(steps.states[i], own.state);
    own.state.covered.assign(steps.coverage.begin() + static_cast<std::ptrdiff_t>(i * n),
                             steps.coverage.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
    scores[i] = static_cast<float>(own.score(steps.options[i]));
    states[i] = pack(own.state);
  }
}

void BlockScorer::forget(std::size_t s) const { sentences_[s].reset(); }

float BlockScorer::estimate(std::size_t s, std::int64_t option) const {
  return static_cast<float>(sentence(s).estimate(option));
}

}  // namespace hyperbaton
