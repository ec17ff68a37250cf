// SPDX-License-Identifier: BSD-3-Clause
#include "layout/bytes.h"

namespace nagaya::layout {
namespace {

constexpr size_t kLineBytes = 64;

bool overlap(const std::byte* one, const std::byte* other, size_t bytes) {
  return static_cast<size_t>(one < other ? other - one : one - other) < bytes;
}

}  // namespace

void copy_long(void* to, const void* from, size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
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
