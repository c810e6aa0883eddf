#include "phrases/extract.hh"

#include <algorithm>
#include <string>

#include "base/errors.hh"
#include "base/size.hh"
#include "phrases/orientation.hh"
#include "phrases/pair_matrix.hh"

namespace hyperbaton {

namespace {

// Where the source sides of the neighbouring phrases end or begin, as far as known in training (SPEC section 1).
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
    throw Error("texts and links have different numbers of sentence pairs");
  if (options.max_length < 1 || options.max_length > kMaxPhraseLength)
    throw Error("the maximum phrase length must be from 1 to " + std::to_string(kMaxPhraseLength));
  for (std::size_t s = 0; s < n; ++s)
    if (source[s] > kMaxPairedLength || target[s] > kMaxPairedLength)
      throw LineError(s + 1, "a sentence of more than " + std::to_string(kMaxPairedLength) + " words");

  // Count first, so that each sample's index is known and the threads can fill shared columns.
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
  samples.resize(to_size(exclusive_sum(samples.offsets)));

  parallel_chunks(n, chunk, options.n_threads, filling, [&](std::size_t begin, std::size_t end) {
    PairMatrix matrix;
    OrientationGrid grid;
    Neighbours neighbours;
    for (std::size_t s = begin; s < end; ++s) {
      matrix.reset(source[s], target[s], links[s]);
      fill_grid(grid, matrix, links[s], options.max_length);
      neighbours.reset(matrix);
      auto at = to_size(samples.offsets[s]);
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
