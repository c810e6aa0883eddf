#include "phrases/extract.hh"

#include <algorithm>
#include <string>

#include "base/errors.hh"
#include "phrases/orientation.hh"

namespace hyperbaton {

namespace {

// The links of one sentence pair, arranged so that a target span's tight source span and its consistency take O(1).
class PairMatrix {
 public:
  void reset(int n_source, int n_target, std::span<const Link> links) {
    n_source_ = n_source;
    n_target_ = n_target;
    least_.assign(n_target, n_source);
    greatest_.assign(n_target, -1);
    source_links_.assign(n_source + 1, 0);
    target_links_.assign(n_target + 1, 0);
    for (const auto link : links) {
      least_[link.target] = std::min<int>(least_[link.target], link.source);
      greatest_[link.target] = std::max<int>(greatest_[link.target], link.source);
      ++source_links_[link.source + 1];
      ++target_links_[link.target + 1];
    }
    for (int i = 0; i < n_source; ++i) source_links_[i + 1] += source_links_[i];
    for (int j = 0; j < n_target; ++j) target_links_[j + 1] += target_links_[j];
    // How far an unlinked run reaches from each source boundary.
    free_left_.assign(n_source + 1, 0);
    free_right_.assign(n_source + 1, n_source);
    for (int i = 0; i < n_source; ++i) free_left_[i + 1] = linked(i) ? i + 1 : free_left_[i];
    for (int i = n_source; i-- > 0;) free_right_[i] = linked(i) ? i : free_right_[i + 1];
  }

  int n_source() const { return n_source_; }
  int n_target() const { return n_target_; }
  bool linked(int source) const { return source_links_[source + 1] > source_links_[source]; }
  // Least and greatest linked source position of a target word; n_source and -1 where it has none.
  int least(int target) const { return least_[target]; }
  int greatest(int target) const { return greatest_[target]; }
  // How far left of a boundary, and right of one, all source words are unlinked.
  int free_left(int boundary) const { return free_left_[boundary]; }
  int free_right(int boundary) const { return free_right_[boundary]; }

  // Call on_phrase(tight source span, target span) for each consistent target span that has a link. Spans longer than
  // max_length on either side are left out.
  template <class OnPhrase>
  void for_each_tight(int max_length, const OnPhrase& on_phrase) const {
    for (int begin = 0; begin < n_target_; ++begin) {
      int first = n_source_, last = -1;
      const int limit = std::min(n_target_, begin + max_length);
      for (int end = begin + 1; end <= limit; ++end) {
        first = std::min(first, least_[end - 1]);
        last = std::max(last, greatest_[end - 1]);
        if (last < 0) continue;
        if (last - first >= max_length) break;  // it only grows
        // Every link of the target span falls into [first, last]; consistent if that has no others.
        const int in_source = source_links_[last + 1] - source_links_[first];
        if (in_source == target_links_[end] - target_links_[begin])
          on_phrase(SourceSpan{first, last + 1}, TargetSpan{begin, end});
      }
    }
  }

  // Call on_phrase(source span, target span) for each consistent phrase pair, unlinked edges included.
  template <class OnPhrase>
  void for_each(int max_length, const OnPhrase& on_phrase) const {
    for_each_tight(max_length, [&](SourceSpan tight, TargetSpan target) {
      const int least_begin = std::max(free_left(tight.begin), tight.end - max_length);
      for (int begin = tight.begin; begin >= least_begin; --begin) {
        const int greatest_end = std::min(free_right(tight.end), begin + max_length);
        for (int end = tight.end; end <= greatest_end; ++end) on_phrase(SourceSpan{begin, end}, target);
      }
    });
  }

 private:
  int n_source_ = 0, n_target_ = 0;
  std::vector<int> least_, greatest_, source_links_, target_links_, free_left_, free_right_;
};

// Where the neighbouring phrases' source sides end or begin, as far as training can know (SPEC section 1).
struct Neighbours {
  std::vector<int> last_before, first_after;  // by target boundary

  void reset(const PairMatrix& matrix) {
    const int n = matrix.n_target();
    last_before.assign(n + 1, -1);
    first_after.assign(n + 1, matrix.n_source());
    for (int j = 0; j < n; ++j) last_before[j + 1] = matrix.greatest(j) >= 0 ? matrix.greatest(j) : last_before[j];
    for (int j = n; j-- > 0;) first_after[j] = matrix.greatest(j) >= 0 ? matrix.least(j) : first_after[j + 1];
  }
};

void fill_grid(OrientationGrid& grid, const PairMatrix& matrix, std::span<const Link> links, int max_length) {
  grid.reset(matrix.n_source(), matrix.n_target(), links);
  matrix.for_each_tight(kMaxPairedLength, [&](SourceSpan tight, TargetSpan target) {
    const int left = matrix.free_left(tight.begin), right = matrix.free_right(tight.end);
    grid.add_phrase(tight, target, {left, right}, false);
    if (tight.end - tight.begin <= max_length && target.end - target.begin <= max_length)
      grid.add_phrase(tight, target, {std::max(left, tight.end - max_length), std::min(right, tight.begin + max_length)},
                      true);
  });
}

std::int16_t clip16(int value) { return static_cast<std::int16_t>(std::clamp(value, -32768, 32767)); }

}  // namespace

void Samples::resize(std::size_t n) {
  sentence.resize(n);
  source_begin.resize(n);
  target_begin.resize(n);
  source_length.resize(n);
  target_length.resize(n);
  distance_before.resize(n);
  distance_after.resize(n);
  orientations.resize(n);
}

Samples extract_samples(SentenceLengths source, SentenceLengths target, LinksView links, const ExtractOptions& options,
                        const Progress& progress) {
  const std::size_t n = source.n_sentences();
  if (target.n_sentences() != n || links.offsets.size() != n + 1)
    throw Error("texts and links differ in their number of sentence pairs");
  if (options.max_length < 1 || options.max_length > kMaxPhraseLength)
    throw Error("the maximum phrase length must be from 1 to " + std::to_string(kMaxPhraseLength));
  for (std::size_t s = 0; s < n; ++s)
    if (source[s] > kMaxPairedLength || target[s] > kMaxPairedLength)
      throw LineError(s + 1, "a sentence of more than " + std::to_string(kMaxPairedLength) + " words");

  // Count first, so that every sample's place is known and the threads fill one set of columns.
  constexpr std::size_t chunk = 512;
  Samples samples;
  samples.offsets.assign(n + 1, 0);
  const Progress counting = [&](std::size_t done, std::size_t) { return !progress || progress(done / 2, n); };
  const Progress filling = [&](std::size_t done, std::size_t) { return !progress || progress((n + done + 1) / 2, n); };
  parallel_chunks(n, chunk, options.n_threads, counting, [&](std::size_t begin, std::size_t end) {
    PairMatrix matrix;
    for (std::size_t s = begin; s < end; ++s) {
      matrix.reset(source[s], target[s], links[s]);
      std::int64_t count = 0;
      matrix.for_each(options.max_length, [&](SourceSpan, TargetSpan) { ++count; });
      samples.offsets[s] = count;
    }
  });
  samples.resize(static_cast<std::size_t>(exclusive_sum(samples.offsets)));

  parallel_chunks(n, chunk, options.n_threads, filling, [&](std::size_t begin, std::size_t end) {
    PairMatrix matrix;
    OrientationGrid grid;
    Neighbours neighbours;
    for (std::size_t s = begin; s < end; ++s) {
      matrix.reset(source[s], target[s], links[s]);
      fill_grid(grid, matrix, links[s], options.max_length);
      neighbours.reset(matrix);
      auto at = static_cast<std::size_t>(samples.offsets[s]);
      matrix.for_each(options.max_length, [&](SourceSpan src, TargetSpan tgt) {
        samples.sentence[at] = static_cast<std::uint32_t>(s);
        samples.source_begin[at] = static_cast<std::uint16_t>(src.begin);
        samples.source_length[at] = static_cast<std::uint8_t>(src.end - src.begin);
        samples.target_begin[at] = static_cast<std::uint16_t>(tgt.begin);
        samples.target_length[at] = static_cast<std::uint8_t>(tgt.end - tgt.begin);
        samples.distance_before[at] = clip16(neighbours.last_before[tgt.begin] + 1 - src.begin);
        samples.distance_after[at] = clip16(src.end - neighbours.first_after[tgt.end]);
        samples.orientations[at] = grid.packed(src, tgt);
        ++at;
      });
    }
  });
  return samples;
}

}  // namespace hyperbaton
