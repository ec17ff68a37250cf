// SPDX-License-Identifier: BSD-3-Clause
// packed.h - arrays of numbers of any width up to 31 bits, without gaps between them.
//
//   bit  0        bits      2*bits                     count*bits          + 8 bytes
//        | number 0 | number 1 | ... | number count-1   | so that any number is one 8-byte load |
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nagaya::processes {

static_assert(std::endian::native == std::endian::little,
              "a number is cut out of a word's low end");

inline constexpr uint64_t packed_bytes(uint32_t bits, uint64_t count) {
  return (count * bits + 63) / 64 * 8 + 8;
}

inline uint32_t packed_get(const std::byte* array, uint32_t bits, uint64_t index) {
  const uint64_t at = index * bits;
  uint64_t word;
  std::memcpy(&word, array + at / 8, sizeof word);
  return static_cast<uint32_t>(word >> at % 8 & ((1ull << bits) - 1));
}

// Writes `number` at `index`, where the array has a zero.
inline void packed_put(std::byte* array, uint32_t bits, uint64_t index, uint32_t number) {
  const uint64_t at = index * bits;
  uint64_t word;
  std::memcpy(&word, array + at / 8, sizeof word);
  word |= uint64_t{number} << at % 8;
  std::memcpy(array + at / 8, &word, sizeof word);
}

}  // namespace nagaya::processes
