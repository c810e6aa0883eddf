#include "metrics/translation_edits.hh"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "base/errors.hh"
#include "base/size.hh"

namespace hyperbaton {

namespace {

// The limits of Tercom and of sacreBLEU.
constexpr std::size_t kLongestShift = 10;
constexpr std::size_t kFarthestShift = 50;
constexpr std::size_t kMostCandidates = 1000;
constexpr double kBeam = 25;

constexpr std::int32_t kFar = 1 << 28;  // outside the beam

using Words = std::vector<std::uint32_t>;

enum class Edit : std::uint8_t { none, substitute, remove, insert, unreached };

// Edit distances of hypotheses of one length to one reference, within a beam around the diagonal. Only the beam is
// stored, so memory grows linearly with sentence length, not quadratically.
class Distances {
 public:
  Distances(std::span<const std::uint32_t> reference, std::size_t n_words) : reference_(reference), n_words_(n_words) {
    const std::size_t width = reference.size() + 1;
    const double ratio = n_words > 0 ? static_cast<double>(reference.size()) / static_cast<double>(n_words) : 1.0;
    const double beam = kBeam < ratio / 2 ? std::ceil(ratio / 2 + kBeam) : kBeam;
    rows_.push_back({.first = 0, .end = width, .start = 0});
    for (std::size_t i = 1; i <= n_words; ++i) {
      const double diagonal = std::floor(static_cast<double>(i) * ratio);
      const auto first = static_cast<std::size_t>(std::max(0.0, diagonal - beam));
      const auto end = static_cast<std::size_t>(std::min(static_cast<double>(width), diagonal + beam));
      const auto& above = rows_.back();
      rows_.push_back({.first = first,
                       .end = i == n_words ? width : std::max(first, end),
                       .start = above.start + (above.end - above.first)});
    }
    const std::size_t n_cells = rows_.back().start + (rows_.back().end - rows_.back().first);
    cost_.assign(n_cells, kFar);
    edit_.assign(n_cells, Edit::unreached);
    for (std::size_t j = 0; j < width; ++j) {
      cost_[j] = static_cast<std::int32_t>(j);
      edit_[j] = Edit::insert;
    }
  }

  // The distance of a hypothesis; rows shared with the previous one are kept.
  std::int32_t operator()(const Words& words) {
    std::size_t shared = 0;
    while (shared < known_.size() && known_[shared] == words[shared]) ++shared;
    for (std::size_t i = shared + 1; i <= n_words_; ++i) fill(rows_[i - 1], rows_[i], words[i - 1]);
    known_ = words;
    return cost_.back();
  }

  Edit edit(std::size_t i, std::size_t j) const {
    const Row& row = rows_[i];
    return j < row.first || j >= row.end ? Edit::unreached : edit_[row.start + (j - row.first)];
  }

 private:
  // Cells [first, end) of a row, stored from `start` on.
  struct Row {
    std::size_t first, end, start;
  };

  std::int32_t cost(const Row& row, std::size_t j) const {
    return j < row.first || j >= row.end ? kFar : cost_[row.start + (j - row.first)];
  }

  void fill(const Row& above, const Row& row, std::uint32_t word) {
    std::int32_t before = kFar;  // of the cell to the left
    for (std::size_t j = row.first; j < row.end; ++j) {
      std::int32_t best = kFar;
      Edit how = Edit::unreached;
      const auto offer = [&](std::int32_t cost, Edit edit) {
        if (cost < best) best = cost, how = edit;
      };
      if (j == 0) {
        best = cost(above, 0) + 1, how = Edit::remove;
      } else {
        const bool same = word == reference_[j - 1];
        offer(cost(above, j - 1) + (same ? 0 : 1), same ? Edit::none : Edit::substitute);
        offer(cost(above, j) + 1, Edit::remove);
        if (j > row.first) offer(before + 1, Edit::insert);
      }
      const std::size_t at = row.start + (j - row.first);
      cost_[at] = before = best;
      edit_[at] = how;
    }
  }

  std::span<const std::uint32_t> reference_;
  std::size_t n_words_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> cost_;
  std::vector<Edit> edit_;
  Words known_;
};

// The alignment of a hypothesis with its reference: which words are wrong, and the hypothesis word at or before each
// reference word (-1 before the first).
struct Alignment {
  std::vector<std::int64_t> at;
  std::vector<std::uint8_t> reference_wrong, hypothesis_wrong;

  Alignment(const Distances& distances, std::size_t n_words, std::size_t n_reference)
      : at(n_reference), reference_wrong(n_reference), hypothesis_wrong(n_words) {
    std::size_t i = n_words, j = n_reference;
    while (i > 0 || j > 0) {
      const Edit edit = distances.edit(i, j);
      switch (edit) {
        case Edit::none:
        case Edit::substitute:
          --i, --j;
          at[j] = static_cast<std::int64_t>(i);
          reference_wrong[j] = hypothesis_wrong[i] = edit == Edit::substitute;
          break;
        case Edit::insert:
          --j;
          at[j] = static_cast<std::int64_t>(i) - 1;
          reference_wrong[j] = 1;
          break;
        case Edit::remove:
          --i;
          hypothesis_wrong[i] = 1;
          break;
        case Edit::unreached:
          throw Error("two sentences differ too much in length for TER");
      }
    }
  }
};

// The words with the `length` words at `start` moved before the word `target`, counted as in sacreBLEU: if `target` is
// inside the run, it moves that many words to the right.
Words shifted(const Words& words, std::size_t start, std::size_t length, std::size_t target) {
  Words moved = words;
  const auto at = [&](std::size_t i) { return moved.begin() + static_cast<std::ptrdiff_t>(std::min(i, words.size())); };
  if (target < start)
    std::rotate(at(target), at(start), at(start + length));
  else
    std::rotate(at(start), at(start + length), at(target > start + length ? target : target + length));
  return moved;
}

bool any(const std::vector<std::uint8_t>& wrong, std::size_t begin, std::size_t length) {
  return std::any_of(wrong.begin() + static_cast<std::ptrdiff_t>(begin),
                     wrong.begin() + static_cast<std::ptrdiff_t>(begin + length), [](auto w) { return w != 0; });
}

std::int64_t edits_of(std::span<const std::uint32_t> hypothesis, std::span<const std::uint32_t> reference, Poll& poll) {
  if (reference.empty()) return static_cast<std::int64_t>(hypothesis.size());
  Words words(hypothesis.begin(), hypothesis.end());
  Distances distances(reference, words.size());
  std::int64_t n_shifts = 0;
  std::size_t n_candidates = 0;
  while (true) {
    const std::int32_t before = distances(words);
    const Alignment alignment(distances, words.size(), reference.size());
    // Ranking of shifts: by gain, length, then earliest run and place.
    using Rank = std::tuple<std::int32_t, std::size_t, std::int64_t, std::int64_t>;
    std::optional<Rank> best;
    const auto try_run = [&](std::size_t start, std::size_t start_r, std::size_t length) {
      const std::int64_t own = alignment.at[start_r];
      const auto begin = static_cast<std::int64_t>(start);
      if (!any(alignment.hypothesis_wrong, start, length) || !any(alignment.reference_wrong, start_r, length)) return;
      if (begin <= own && own < begin + static_cast<std::int64_t>(length)) return;
      std::int64_t previous = -1;
      for (std::size_t k = 0; k <= length; ++k) {
        const std::int64_t target = start_r + k == 0 ? 0 : alignment.at[start_r + k - 1] + 1;
        if (target == previous) continue;
        previous = target;
        const auto moved = shifted(words, start, length, to_size(target));
        const Rank rank{before - distances(moved), length, -begin, -target};
        ++n_candidates;
        poll.check();
        if (!best || rank > *best) best = rank;
      }
    };
    for (std::size_t start = 0; start < words.size() && n_candidates < kMostCandidates; ++start) {
      const std::size_t nearest = start > kFarthestShift ? start - kFarthestShift : 0;
      const std::size_t farthest = std::min(reference.size(), start + kFarthestShift + 1);
      for (std::size_t start_r = nearest; start_r < farthest && n_candidates < kMostCandidates; ++start_r) {
        for (std::size_t length = 1; length <= kLongestShift && n_candidates < kMostCandidates; ++length) {
          if (start + length > words.size() || start_r + length > reference.size()) break;
          if (words[start + length - 1] != reference[start_r + length - 1]) break;
          try_run(start, start_r, length);
        }
      }
    }
    if (n_candidates >= kMostCandidates || !best || std::get<0>(*best) <= 0) break;
    const auto [gain, length, start, target] = *best;
    words = shifted(words, to_size(-start), length, to_size(-target));
    ++n_shifts;
  }
  return n_shifts + distances(words);
}

}  // namespace

std::vector<std::int64_t> translation_edits(const WordsView& hypotheses, const WordsView& references,
                                            std::span<const std::int64_t> line, unsigned n_threads,
                                            const Progress& progress) {
  return count_pairs(hypotheses, references, line, kFewSentences, n_threads, progress, edits_of);
}

}  // namespace hyperbaton
