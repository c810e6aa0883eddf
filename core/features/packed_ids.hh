// 32-bit numbers packed into one to four bytes each. Two bits per number give its size; they come first, for four numbers
// in a byte. Small numbers, as frequent features have, take a byte or two.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/size.hh"

namespace hyperbaton {

static_assert(std::endian::native == std::endian::little, "packed numbers have their lowest byte first");

inline void pack_ids(std::span<const std::uint32_t> ids, std::vector<std::uint8_t>& packed) {
  constexpr std::size_t kSpare = 3;  // read together with the last number
  const std::size_t begin = packed.size(), n_lengths = (ids.size() + 3) / 4;
  packed.resize(begin + n_lengths + 4 * ids.size() + kSpare, 0);
  std::uint8_t *const lengths = packed.data() + begin, *data = lengths + n_lengths;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::uint32_t id = ids[i];
    const unsigned more = (id >= 1U << 8) + (id >= 1U << 16) + (id >= 1U << 24);
    lengths[i / 4] = static_cast<std::uint8_t>(lengths[i / 4] | more << (2 * (i % 4)));
    std::memcpy(data, &id, sizeof id);
    data += 1 + more;
  }
  std::memset(data, 0, kSpare);
  packed.resize(to_size(data - packed.data()) + kSpare);
}

inline void unpack_ids(const std::uint8_t* packed, std::span<std::uint32_t> ids) {
  constexpr std::array<std::uint32_t, 4> masks{0xff, 0xffff, 0xffffff, 0xffffffff};
  const std::uint8_t* data = packed + (ids.size() + 3) / 4;
  const auto read = [&](unsigned more) {
    std::uint32_t value;
    std::memcpy(&value, data, sizeof value);
    data += 1 + more;
    return value & masks[more];
  };
  std::size_t i = 0;
  for (; i + 4 <= ids.size(); i += 4) {
    const unsigned lengths = *packed++;
    for (unsigned k = 0; k < 4; ++k) ids[i + k] = read(lengths >> (2 * k) & 3);
  }
  for (unsigned k = 0; i < ids.size(); ++i, ++k) ids[i] = read(*packed >> (2 * k) & 3U);
}

}  // namespace hyperbaton
