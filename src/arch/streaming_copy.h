// SPDX-License-Identifier: BSD-3-Clause
// streaming_copy.h - a copy whose target does not pass through the caches.
#pragma once

#include <cstddef>

namespace nagaya::arch {

// Copies `bytes` between buffers that do not overlap, at any places. A processor reads a line that
// an ordinary store changes from memory first; a streaming store does without that read, but leaves
// the target in no cache. Later stores of the caller become visible after the copied bytes.
void copy_streaming(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace nagaya::arch
