// SPDX-License-Identifier: BSD-3-Clause
#include "arch/streaming_copy.h"

#include <emmintrin.h>

#include <cstdint>
#include <cstring>

namespace nagaya::arch {

void copy_streaming(std::byte* to, const std::byte* from, size_t bytes) {
  constexpr size_t kLineBytes = 64, kVectorBytes = sizeof(__m128i);
  const size_t before = -reinterpret_cast<uintptr_t>(to) % kLineBytes;  // to the first whole line
  const size_t head = before < bytes ? before : bytes;
  std::memcpy(to, from, head);
  size_t at = head;
  for (; at + kLineBytes <= bytes; at += kLineBytes)
    for (size_t in_line = 0; in_line < kLineBytes; in_line += kVectorBytes) {
      const auto* const source = reinterpret_cast<const __m128i*>(from + at + in_line);
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + in_line), _mm_loadu_si128(source));
    }
  std::memcpy(to + at, from + at, bytes - at);
  _mm_sfence();  // streaming stores are not ordered with later ones by themselves
}

}  // namespace nagaya::arch
