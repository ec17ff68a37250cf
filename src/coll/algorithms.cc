// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.h"

#include "coll/move.h"
#include "coll/reduce.h"
#include "coll/tuning.h"

namespace nagaya::coll {
namespace {

// In the order of nagaya_collective_kind. `longer`: above `max_bytes` of elements, or with gaps.
struct Row {
  const Algorithm& algorithm;
  size_t max_bytes = SIZE_MAX;
  const Algorithm& longer = algorithm;
};
const Row kRows[] = {
    {kMove},                                         // barrier
    {kMove},                                         // bcast
    {kMove},                                         // gather
    {kMove},                                         // scatter
    {kMove},                                         // allgather
    {kMove},                                         // alltoall
    {kCombine, tuning::kCombinedMaxBytes, kSlices},  // reduce
    {kCombine, tuning::kCombinedMaxBytes, kSlices},  // allreduce
    {kCombine, tuning::kCombinedMaxBytes, kSlices},  // reduce_scatter
    {kChain, tuning::kCombinedMaxBytes, kSlices},    // scan
    {kChain, tuning::kCombinedMaxBytes, kSlices},    // exscan
};

}  // namespace

const Algorithm* algorithm_of(const nagaya_collective& what) {
  if (static_cast<size_t>(what.kind) >= std::size(kRows)) return nullptr;
  const Row& row = kRows[what.kind];
  const nagaya_elements& elements = what.elements;
  const bool is_short =
      elements.copy == nullptr && elements.count * elements.extent <= row.max_bytes;
  return is_short ? &row.algorithm : &row.longer;
}

}  // namespace nagaya::coll
