// Signed numbers as sizes and indices of containers.
#pragma once

#include <concepts>
#include <cstddef>

namespace hyperbaton {

// The size or index that a non-negative position, length or offset is for a container.
constexpr std::size_t to_size(std::signed_integral auto number) { return static_cast<std::size_t>(number); }

}  // namespace hyperbaton
