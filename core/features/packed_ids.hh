// 32-bit numbers packed into one to four bytes each. Two bits per number give its size; they come first, for four numbers
// in a byte. Small numbers, as frequent features have, take a byte or two.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/size.hh"

namespace hyperbaton {

static_assert(std::endian::native == std::endian::little, "packed numbers have their lowest byte first");

inline void pack_ids(std::span<const std::uint32_t> ids, std::vector<std::uint8_t>& packed) {
  constexpr std::size_t kSpare = 9;  // read together with the last number
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

// How to unpack four numbers, by the byte of their sizes. Eight bytes have the first and the second one, eight others the
// third and the fourth.
struct PackedFour {
  std::array<std::uint32_t, 4> masks;
  std::uint8_t second_bit, third_byte, fourth_bit, n_bytes;

  constexpr explicit PackedFour(unsigned sizes) {
    std::array<std::uint8_t, 5> begins{};
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned n = 1 + (sizes >> (2 * k) & 3U);
      masks[k] = 0xffffffffU >> (32 - 8 * n);
      begins[k + 1] = static_cast<std::uint8_t>(begins[k] + n);
    }
    second_bit = static_cast<std::uint8_t>(8 * begins[1]);
    third_byte = begins[2];
    fourth_bit = static_cast<std::uint8_t>(8 * (begins[3] - begins[2]));
    n_bytes = begins[4];
  }

  std::array<std::uint32_t, 4> unpack(const std::uint8_t* data) const {
    std::uint64_t front, back;
    std::memcpy(&front, data, sizeof front);
    std::memcpy(&back, data + third_byte, sizeof back);
    return {static_cast<std::uint32_t>(front) & masks[0], static_cast<std::uint32_t>(front >> second_bit) & masks[1],
            static_cast<std::uint32_t>(back) & masks[2], static_cast<std::uint32_t>(back >> fourth_bit) & masks[3]};
  }
};

inline constexpr auto kPackedFours = []<std::size_t... Sizes>(std::index_sequence<Sizes...>) {
  return std::array{PackedFour(Sizes)...};
}(std::make_index_sequence<256>());

inline void unpack_ids(const std::uint8_t* packed, std::span<std::uint32_t> ids) {
  const std::uint8_t* data = packed + (ids.size() + 3) / 4;
  for (; ids.size() >= 4; ids = ids.subspan(4)) {
    const PackedFour& four = kPackedFours[*packed++];
    const auto unpacked = four.unpack(data);
    std::copy(unpacked.begin(), unpacked.end(), ids.begin());
    data += four.n_bytes;
  }
  if (ids.empty()) return;
  const auto unpacked = kPackedFours[*packed].unpack(data);
  std::copy_n(unpacked.begin(), ids.size(), ids.begin());
}

}  // namespace hyperbaton
