#include "phrases/orientation.hh"

#include <algorithm>

#include "base/errors.hh"

namespace hyperbaton {

void OrientationGrid::reset(int n_source, int n_target, std::span<const Link> links) {
  n_source_ = n_source;
  n_target_ = n_target;
  cells_.assign(static_cast<std::size_t>(n_source) * static_cast<std::size_t>(n_target), 0);
  for (auto& extents : extents_) extents.assign(static_cast<std::size_t>(n_target), {n_source, -1});
  for (const auto link : links) mark(link.target, link.source, ALink);
}

void OrientationGrid::mark(int row, int column, Thing thing) {
  cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(n_source_) + static_cast<std::size_t>(column)] |=
      static_cast<std::uint8_t>(1 << thing);
  auto& extent = extents_[thing][static_cast<std::size_t>(row)];
  extent.least = std::min(extent.least, column);
  // Moses' search for phrase pairs farther to the right stops short of the last source word; so do we.
  if (thing == ALink || column + 1 < n_source_) extent.greatest = std::max(extent.greatest, column);
}

bool OrientationGrid::holds(int row, int column, Thing thing) const {
  if (thing == ALink) {  // the sentences' starts are linked to each other, and so are their ends
    if (row == -1 && column == -1) return true;
    if (row == n_target_ && column == n_source_) return true;
  }
  if (row < 0 || row >= n_target_ || column < 0 || column >= n_source_) return false;
  const auto at = static_cast<std::size_t>(row) * static_cast<std::size_t>(n_source_) + static_cast<std::size_t>(column);
  return (cells_[at] >> thing) & 1;
}

bool OrientationGrid::farther_left(int row, int column, Thing thing) const {
  return row >= 0 && row < n_target_ && extents_[thing][static_cast<std::size_t>(row)].least < column;
}

bool OrientationGrid::farther_right(int row, int column, Thing thing) const {
  return row >= 0 && row < n_target_ && extents_[thing][static_cast<std::size_t>(row)].greatest > column;
}

void OrientationGrid::add_phrase(SourceSpan source, TargetSpan target, Widening widening, bool limited) {
  for (int begin = widening.least_begin; begin <= source.begin; ++begin)
    mark(target.end - 1, begin, limited ? LimitedFirst : AnyFirst);
  for (int end = source.end; end <= widening.greatest_end; ++end)
    mark(target.end - 1, end - 1, limited ? LimitedLast : AnyLast);
}

Orientation OrientationGrid::orientation(SourceSpan source, TargetSpan target, Unit unit, Side side) const {
  using enum Orientation;
  const bool before = side == Side::Before;
  const int row = before ? target.begin - 1 : target.end;
  const int left = source.begin - 1, right = source.end;

  // Coming from the left and leaving to the right is straight on; the other ways are across.
  struct Ways {
    bool straight, across;
  };
  const auto along = [&](bool at_left, bool at_right) {
    return before ? Ways{at_left, at_right} : Ways{at_right, at_left};
  };
  const auto touching = [&](Thing first, Thing last) { return along(holds(row, left, last), holds(row, right, first)); };
  const auto farther = [&](Thing first, Thing last) {
    return along(farther_left(row, left, last), farther_right(row, right, first));
  };

  const bool phrases = unit != Unit::Word, any = unit == Unit::Hierarchical;
  const Ways link = touching(ALink, ALink);
  const Ways phrase = !phrases ? Ways{false, false}
                      : any    ? touching(AnyFirst, AnyLast)
                               : touching(LimitedFirst, LimitedLast);
  if ((link.straight && !link.across) || phrase.straight) return Monotone;
  if ((link.across && !link.straight) || phrase.across) return Swap;

  // Nothing decides at the corner: the direction of what lies farther out, the right where that does not tell.
  Ways far = phrases ? farther(LimitedFirst, LimitedLast) : farther(ALink, ALink);
  if (any && !far.straight && !far.across) far = farther(AnyFirst, AnyLast);
  const bool torn = !phrases && link.straight && link.across;
  return far.across && !far.straight && !torn ? DiscontinuousLeft : DiscontinuousRight;
}

std::uint16_t OrientationGrid::packed(SourceSpan source, TargetSpan target) const {
  unsigned bits = 0;
  for (const auto unit : {Unit::Word, Unit::Phrase, Unit::Hierarchical})
    for (const auto side : {Side::Before, Side::After})
      bits |= static_cast<unsigned>(orientation(source, target, unit, side)) << orientation_shift(unit, side);
  return static_cast<std::uint16_t>(bits);
}

}  // namespace hyperbaton
