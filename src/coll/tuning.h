// SPDX-License-Identifier: BSD-3-Clause
// tuning.h - the sizes at which one way becomes faster than another. Every member must have the
// same, for some of them choose an algorithm.
#pragma once

#include <cstddef>

namespace nagaya::coll::tuning {

// What a member gives is posted as a copy up to this size.                              [bytes]
inline constexpr size_t kPostedMaxBytes = 4096;
// Elements are combined by everybody up to this size, and by slices above.              [bytes]
inline constexpr size_t kCombinedMaxBytes = 4096;
// So much of each buffer at a time: with the result it stays in the first cache.        [bytes]
inline constexpr size_t kTileBytes = 8192;

}  // namespace nagaya::coll::tuning
