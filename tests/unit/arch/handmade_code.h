// SPDX-License-Identifier: BSD-3-Clause
// handmade_code.h - machine code written byte by byte, padded so that linear disassembly is in
// step when it reaches it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace nagaya::arch {

constexpr size_t kPaddingBytes = 64;
constexpr uint8_t kNop = 0x90;

// `bytes` between two stretches of nop; the first byte lies at kPaddingBytes.
inline std::vector<std::byte> code(std::initializer_list<int> bytes) {
  std::vector<std::byte> all(kPaddingBytes, std::byte{kNop});
  for (int byte : bytes) all.push_back(static_cast<std::byte>(byte));
  all.insert(all.end(), kPaddingBytes, std::byte{kNop});
  return all;
}

}  // namespace nagaya::arch
