#include "next_position/nine_class.hh"

#include <array>
#include <limits>

#include "base/columns.hh"
#include "base/math.hh"
#include "base/size.hh"
#include "next_position/jump_logprobs.hh"

namespace hyperbaton {

namespace {

constexpr std::size_t kSentencesAtOnce = 256;

// Call use(key) for each feature of position p.
template <class Use>
void for_each_key(const PositionParts& parts, int p, bool tagged, const Use& use) {
  for (std::size_t part = 0; part < (tagged ? kParts : kWordParts); ++part) use(combine(mix(3000 + part), parts[p][part]));
  // BOS is in the first fifth, EOS in the last.
  const int n = std::max(parts.n_words(), 1), word = std::clamp(p - 1, 0, n - 1);
  use(combine(mix(3100), static_cast<std::uint64_t>(5 * word / n)));
}

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == -kInfinity ? a : a + math::log1p(math::exp(b - a));
}

// Normalise the scores of the jumps from CP i to log-probabilities.
void normalise(std::span<double> row, std::size_t own) {
  double sum = -kInfinity;
  for (std::size_t c = 0; c < row.size(); ++c)
    if (c != own) sum = log_add(sum, row[c]);
  for (std::size_t c = 0; c < row.size(); ++c) row[c] = c == own ? -kInfinity : row[c] - sum;
}

// Calls emit(key) for each counted feature of a sentence.
struct PositionKeys {
  const TaggedText& text;
  const VisitsView& visits;
  int shift;
  PositionParts parts{};
  std::vector<int> next{};
  template <class Emit>
  void operator()(std::size_t s, const Emit& emit) {
    if (!visits.has_jumps(s)) return;
    parts.assign(text, s, text.tagged());
    visits.next_positions(s, parts.n_words(), next);
    for (int i = 0; i <= parts.n_words(); ++i)
      if (const int j = next[to_size(i)]; j != 0) for_each_key(parts, shift == 0 ? i : j, text.tagged(), emit);
  }
};

}  // namespace

std::vector<std::uint64_t> count_position_features(const TaggedText& text, const VisitsView& visits, Bound bound,
                                                   const Counting& options, const Progress& progress) {
  const std::size_t n_keys = (kParts + 1) * (visits.positions.size() + text.size());
  return count_keys({text.size(), n_keys}, options, progress,
                    [&] { return PositionKeys{text, visits, static_cast<int>(bound)}; });
}

FeatureRows position_rows(const TaggedText& text, Bound bound, std::span<const std::uint64_t> keys, unsigned n_threads) {
  const KeyIndex index(keys);
  const std::size_t n_blocks = (text.size() + kSentencesAtOnce - 1) / kSentencesAtOnce;
  std::vector<FeatureRows> pieces(n_blocks, {.starts = {0}, .indices = {}});
  parallel_chunks(text.size(), kSentencesAtOnce, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    FeatureRows& piece = pieces[begin / kSentencesAtOnce];
    PositionParts parts;
    for (std::size_t s = begin; s < end; ++s) {
      parts.assign(text, s, text.tagged());
      const int shift = static_cast<int>(bound);
      for (int p = shift; p <= parts.n_words() + shift; ++p) {
        const auto first = static_cast<std::ptrdiff_t>(piece.indices.size());
        for_each_key(parts, p, text.tagged(), [&](std::uint64_t key) {
          if (const std::int32_t rank = index.find(key); rank >= 0) piece.indices.push_back(rank);
        });
        std::sort(piece.indices.begin() + first, piece.indices.end());
        piece.starts.push_back(static_cast<std::int64_t>(piece.indices.size()));
      }
    }
  });
  FeatureRows rows{.starts = {0}, .indices = {}};
  for (const FeatureRows& piece : pieces) {
    append_offsets<&FeatureRows::starts>(rows, piece);
    append_columns<&FeatureRows::indices>(rows, piece);
  }
  return rows;
}

std::vector<std::int32_t> position_classes(const TaggedText& text, const VisitsView& visits, Bound bound) {
  check_jumps(text, visits);
  std::vector<std::int32_t> classes(text.words.tokens.size() + text.size(), -1);
  std::vector<int> next;
  std::size_t first = 0;
  for (std::size_t s = 0; s < text.size(); ++s) {
    const int n = static_cast<int>(text.words[s].size());
    if (visits.has_jumps(s)) {
      visits.next_positions(s, n, next);
      for (int i = 0; i <= n; ++i)
        if (const int j = next[to_size(i)]; j != 0)
          classes[first + to_size(bound == Bound::Out ? i : j - 1)] = static_cast<std::int32_t>(nine_class(j - i - 1));
    }
    first += to_size(n) + 1;
  }
  return classes;
}

void nine_class_logprobs(std::span<const std::int64_t> offsets, std::span<const double> outbound,
                         std::span<const double> inbound, std::span<double> logprobs, unsigned n_threads) {
  const std::size_t n_sentences = offsets.size() - 1;
  const auto starts = jump_starts(offsets);
  parallel_chunks(n_sentences, kSentencesAtOnce, n_threads, {}, [&](std::size_t begin, std::size_t end) {
    for (std::size_t s = begin; s < end; ++s) {
      const auto side = to_size(offsets[s + 1] - offsets[s]) + 1;
      const std::size_t first = to_size(offsets[s]) + s;  // positions before this sentence
      for (std::size_t i = 0; i < side; ++i) {
        const auto row = logprobs.subspan(to_size(starts[s]) + i * side, side);
        const auto class_to = [&](std::size_t c) { return nine_class(static_cast<int>(c) - static_cast<int>(i)); };
        std::array<double, kNineClasses> mass;
        mass.fill(-kInfinity);
        for (std::size_t c = 0; c < side; ++c) {  // column c is NP c + 1; the distortion is c − i
          row[c] = inbound.empty() ? 0 : inbound[(first + c) * kNineClasses + class_to(c)];
          if (c + 1 != i) mass[class_to(c)] = log_add(mass[class_to(c)], row[c]);
        }
        if (!outbound.empty())
          for (std::size_t c = 0; c < side; ++c)
            row[c] += outbound[(first + i) * kNineClasses + class_to(c)] - mass[class_to(c)];
        normalise(row, i - 1);  // column of the CP itself; BOS has none
      }
    }
  });
}

}  // namespace hyperbaton
