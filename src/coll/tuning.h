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
// Between nodes, leaders send each other all of their elements up to this size, and slices above.
inline constexpr size_t kExchangedMaxBytes = 8192;
// A leader sends the blocks of its node's ranks up to this size of each, and each rank its own
// above.                                                                                 [bytes]
inline constexpr size_t kAlltoallByLeadersMaxBytes = 1024;

}  // namespace nagaya::coll::tuning
