// SPDX-License-Identifier: BSD-3-Clause
#include "layout/bytes.h"

#include "arch/streaming_copy.h"

namespace nagaya::layout {
namespace {

constexpr size_t kLineBytes = 64;
// From this size on source and target do not fit into an L3 of 32 MiB together. memcpy(3) of glibc
// 2.36 bypasses the caches only from three quarters of the L3 on that the processor reports: 240
// MiB on a virtual EPYC that has 32.
constexpr size_t kStreamedMinBytes = 16 << 20;

bool overlap(const std::byte* one, const std::byte* other, size_t bytes) {
  return static_cast<size_t>(one < other ? other - one : one - other) < bytes;
}

}  // namespace

void copy_long(void* to, const void* from, size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  if (bytes >= kStreamedMinBytes && !overlap(target, source, bytes))
    return arch::copy_streaming(target, source, bytes);
  if (!is_slow_by_string_move(to, from) || overlap(target, source, bytes)) {
    std::memmove(to, from, bytes);
    return;
  }
  for (; bytes > kLineBytes; bytes -= kLineBytes) {
    std::memcpy(target, source, kLineBytes);  // of constant size: four vectors
    target += kLineBytes;
    source += kLineBytes;
  }
  std::memcpy(target, source, bytes);
}

}  // namespace nagaya::layout
