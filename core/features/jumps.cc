#include "features/jumps.hh"

#include <array>

#include "base/size.hh"

namespace hyperbaton {

namespace {

struct PairTemplate {
  Part left, right;
  bool always;  // also counted for jumps that are not made
};

// Words first, so that the rest can be omitted without tags.
constexpr std::size_t kWordPairs = 21, kPairs = kWordPairs + 7;
constexpr std::array<PairTemplate, kPairs> make_pairs() {
  std::array<PairTemplate, kPairs> all{};
  std::size_t at = 0;
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 5; ++b)
      if ((a >= 1 && a <= 3) || (b >= 1 && b <= 3))
        all[at++] = {static_cast<Part>(a), static_cast<Part>(b), a == kWord && b == kWord};
  all[at++] = {kTag, kTag, true};
  all[at++] = {kTagBefore, kTag, false};
  all[at++] = {kTagAfter, kTag, false};
  all[at++] = {kTag, kTagBefore, false};
  all[at++] = {kTag, kTagAfter, false};
  all[at++] = {kWordTag, kTag, true};
  all[at++] = {kTag, kWordTag, true};
  return all;
}
constexpr auto kPairTemplates = make_pairs();
constexpr std::size_t kUnary = kWordParts + 1;  // the words, and the tag

std::span<const PairTemplate> pair_templates(bool tagged) {
  return std::span(kPairTemplates).first(tagged ? kPairs : kWordPairs);
}

// A number for each template and orientation; sides are 0 for CP, 1 for NP.
std::uint64_t unary_key(std::size_t side, std::size_t part, std::size_t o, std::uint64_t value) {
  return mix(value + mix(1000 + (side * kUnary + part) * 2 + o));
}
std::uint64_t pair_code(std::size_t number, std::size_t o) { return mix(2000 + number * 2 + o); }
std::uint64_t pair_key(std::uint64_t code, std::uint64_t left, std::uint64_t right) {
  return mix(left * 0x9e3779b97f4a7c15ULL + right + code);
}

// Calls emit(key) for each counted feature of a sentence.
class JumpKeys {
 public:
  JumpKeys(const TaggedText& text, const VisitsView& visits)
      : text_(text), visits_(visits), templates_(pair_templates(text.tagged())) {
    for (std::size_t t = 0; t < templates_.size(); ++t) {
      for (std::size_t o = 0; o < 2; ++o) codes_[o][t] = pair_code(t, o);
      if (templates_[t].always) always_[n_always_++] = t;
    }
  }

  template <class Emit>
  void operator()(std::size_t s, const Emit& emit) {
    if (!visits_.has_jumps(s)) return;
    parts_.assign(text_, s, text_.tagged());
    const int n = parts_.n_words();
    visits_.next_positions(s, n, next_);
    for (int i = 0; i <= n; ++i) {
      const int made = next_[to_size(i)];
      for (int j = 1; j <= n + 1; ++j) {
        const std::size_t o = goes_back(i, j);
        const auto emit_pair = [&](std::size_t t) {
          emit(pair_key(codes_[o][t], parts_[i][templates_[t].left], parts_[j][templates_[t].right]));
        };
        if (j == made) {
          for (std::size_t t = 0; t < templates_.size(); ++t) emit_pair(t);
        } else if (j != i) {
          for (std::size_t k = 0; k < n_always_; ++k) emit_pair(always_[k]);
        }
      }
      if (made == 0) continue;
      const std::size_t o = goes_back(i, made);
      for (std::size_t part = 0; part < kWordParts + text_.tagged(); ++part) {
        emit(unary_key(0, part, o, parts_[i][part]));
        emit(unary_key(1, part, o, parts_[made][part]));
      }
    }
  }

 private:
  const TaggedText& text_;
  const VisitsView& visits_;
  std::span<const PairTemplate> templates_;
  std::array<std::array<std::uint64_t, kPairs>, 2> codes_{};
  std::array<std::size_t, kPairs> always_{};  // templates that also count for jumps that are not made
  std::size_t n_always_ = 0;
  PositionParts parts_;
  std::vector<int> next_;
};

}  // namespace

void VisitsView::next_positions(std::size_t s, int n_words, std::vector<int>& next) const {
  next.assign(to_size(n_words) + 1, 0);
  std::size_t here = 0;
  for (auto at = offsets[s]; at < offsets[s + 1]; ++at) {
    const int visited = positions[to_size(at)] + 1;
    next[here] = visited;
    here = to_size(visited);
  }
  next[here] = n_words + 1;
}

void check_jumps(const TaggedText& text, const VisitsView& visits) {
  if (!text.tags.empty() && text.tags.size() != text.words.tokens.size())
    throw Error("there must be one tag for each word");
  if (visits.offsets.size() != text.words.offsets.size()) throw Error("there must be one visit order for each sentence");
  for (std::size_t s = 0; s < text.size(); ++s)
    for (auto at = visits.offsets[s]; at < visits.offsets[s + 1]; ++at)
      if (visits.positions[to_size(at)] >= text.words[s].size()) throw Error("a visit is out of range for its sentence");
}

std::vector<std::uint64_t> count_jump_features(const TaggedText& text, const VisitsView& visits, const Counting& options,
                                               const Progress& progress) {
  const bool tagged = text.tagged();
  std::size_t n_keys = 0;
  for (std::size_t s = 0; s < text.size(); ++s) {
    const std::size_t rows = text.words[s].size() + 1;
    if (visits.has_jumps(s)) n_keys += rows * (rows * (tagged ? 4 : 1) + 40);
  }
  return count_keys({text.size(), n_keys}, options, progress, [&] { return JumpKeys(text, visits); });
}

void JumpFeatures::append(const TaggedText& text, std::size_t sentence, PositionParts& parts, JumpLists& lists) const {
  parts.assign(text, sentence, tagged_);
  const int n = parts.n_words();
  const auto templates = pair_templates(tagged_);
  std::array<std::array<std::uint64_t, kPairs>, 2> codes;
  for (std::size_t o = 0; o < 2; ++o)
    for (std::size_t t = 0; t < templates.size(); ++t) codes[o][t] = pair_code(t, o);
  std::array<std::uint64_t, kPairs> keys;
  // The filter, the table and the keys are far apart in memory: prefetch each for all keys of a list.
  const auto add = [&](std::size_t n_keys) {
    std::size_t n_likely = 0;
    for (std::size_t k = 0; k < n_keys; ++k) {
      const std::uint64_t key = keys[k];
      keys[n_likely] = key;  // kept unless the next one overwrites it
      n_likely += index_.may_have(key);
    }
    for (std::size_t k = 0; k < n_likely; ++k) index_.prefetch_bucket(keys[k]);
    for (std::size_t k = 0; k < n_likely; ++k) index_.prefetch_key(keys[k]);
    std::uint8_t count = 0;
    for (std::size_t k = 0; k < n_likely; ++k)
      if (const std::int32_t rank = index_.find(keys[k]); rank >= 0) {
        lists.ids.push_back(static_cast<std::uint32_t>(kJumpConstants + to_size(rank)));
        ++count;
      }
    lists.counts.push_back(count);
  };
  for (std::size_t side = 0; side < 2; ++side)
    for (int p = static_cast<int>(side); p <= n + static_cast<int>(side); ++p)
      for (std::size_t o = 0; o < 2; ++o) {
        const std::size_t n_parts = kWordParts + tagged_;
        for (std::size_t part = 0; part < n_parts; ++part) keys[part] = unary_key(side, part, o, parts[p][part]);
        for (std::size_t part = 0; part < n_parts; ++part) index_.prefetch_filter(keys[part]);
        add(n_parts);
      }
  for (int i = 0; i <= n; ++i)
    for (int j = 1; j <= n + 1; ++j) {
      if (i == j) {
        lists.counts.push_back(0);
        continue;
      }
      const auto& code = codes[goes_back(i, j)];
      for (std::size_t t = 0; t < templates.size(); ++t) {
        keys[t] = pair_key(code[t], parts[i][templates[t].left], parts[j][templates[t].right]);
        index_.prefetch_filter(keys[t]);
      }
      add(templates.size());
    }
}

}  // namespace hyperbaton
