#include "phrases/orientation.hh"

#include <algorithm>

#include "base/size.hh"

namespace hyperbaton {

void OrientationGrid::reset(int n_source, int n_target, std::span<const Link> links) {
  n_source_ = n_source;
  n_target_ = n_target;
  cells_.assign(cell(n_target, n_source) + 1, 0);
  Extents none;
  none.fill({n_source, -1});
  extents_.assign(to_size(n_target) + 2, none);
  for (const auto link : links) mark(link.target, link.source, ALink);
  // The sentence starts are linked to each other, and so are the sentence ends.
  cells_[cell(-1, -1)] = cells_[cell(n_target, n_source)] = 1 << ALink;
}

void OrientationGrid::mark(int row, int column, Thing thing) {
  cells_[cell(row, column)] |= static_cast<std::uint8_t>(1 << thing);
  auto& extent = extents_[to_size(row + 1)][thing];
  extent.least = std::min(extent.least, column);
  // Like Moses, the search for phrase pairs farther to the right stops before the last source word.
  if (thing == ALink || column + 1 < n_source_) extent.greatest = std::max(extent.greatest, column);
}

void OrientationGrid::add_phrase(SourceSpan source, TargetSpan target, Widening widening, bool limited) {
  for (int begin = widening.least_begin; begin <= source.begin; ++begin)
    mark(target.end - 1, begin, limited ? LimitedFirst : AnyFirst);
  for (int end = source.end; end <= widening.greatest_end; ++end)
    mark(target.end - 1, end - 1, limited ? LimitedLast : AnyLast);
}

OrientationGrid::Neighbours OrientationGrid::neighbours(SourceSpan source, TargetSpan target, Side side) const {
  const int row = side == Side::Before ? target.begin - 1 : target.end;
  return {source, side, cells_[cell(row, source.begin - 1)], cells_[cell(row, source.end)], extents_[to_size(row + 1)]};
}

Orientation OrientationGrid::decide(const Neighbours& row, Unit unit) {
  using enum Orientation;
  // Coming from the left and leaving to the right is straight; other combinations cross.
  struct Ways {
    bool straight, across;
  };
  const auto along = [&](bool at_left, bool at_right) {
    return row.side == Side::Before ? Ways{at_left, at_right} : Ways{at_right, at_left};
  };
  const auto touching = [&](Thing first, Thing last) { return along((row.left >> last) & 1, (row.right >> first) & 1); };
  // Whether a cell of the row contains the thing that lies farther left, or right, than those next to the box.
  const auto farther = [&](Thing first, Thing last) {
    return along(row.extents[last].least<row.box.begin - 1, row.extents[first].greatest> row.box.end);
  };

  const bool phrases = unit != Unit::Word, any = unit == Unit::Hierarchical;
  const Ways link = touching(ALink, ALink);
  const Ways phrase = !phrases ? Ways{false, false}
                      : any    ? touching(AnyFirst, AnyLast)
                               : touching(LimitedFirst, LimitedLast);
  if ((link.straight && !link.across) || phrase.straight) return Monotone;
  if ((link.across && !link.straight) || phrase.across) return Swap;

  // The corner does not decide: take the direction of the things farther out, or right if these do not decide either.
  Ways far = phrases ? farther(LimitedFirst, LimitedLast) : farther(ALink, ALink);
  if (any && !far.straight && !far.across) far = farther(AnyFirst, AnyLast);
  const bool torn = !phrases && link.straight && link.across;
  return far.across && !far.straight && !torn ? DiscontinuousLeft : DiscontinuousRight;
}

std::uint16_t OrientationGrid::packed(SourceSpan source, TargetSpan target) const {
  unsigned bits = 0;
  for (const auto side : {Side::Before, Side::After}) {
    const auto row = neighbours(source, target, side);
    for (const auto unit : {Unit::Word, Unit::Phrase, Unit::Hierarchical})
      bits |= static_cast<unsigned>(decide(row, unit)) << orientation_shift(unit, side);
  }
  return static_cast<std::uint16_t>(bits);
}

}  // namespace hyperbaton
