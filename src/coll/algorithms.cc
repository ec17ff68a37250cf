// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.h"

#include "coll/exchange.h"
#include "coll/gather.h"
#include "coll/move.h"
#include "coll/reduce.h"
#include "llcl/requests/tuning.h"

namespace nagaya::coll {
namespace {

// The algorithms of one kind. `large`: for large teams. `longer`: for elements with gaps, or of
// more bytes in all than one member should combine. The table is in the order of
// nagaya_collective_kind.
struct Row {
  const Algorithm& algorithm;
  const Algorithm& large = algorithm;
  const Algorithm& longer = algorithm;
};
const Row kRows[] = {
    {kCopyFromSender, kRecursiveMultiplying},     // barrier
    {kCopyFromSender},                            // bcast
    {kGather},                                    // gather
    {kCopyFromSender},                            // scatter
    {kCopyFromSender},                            // allgather
    {kCopyFromSender, kExchange},                 // alltoall
    {kCombine, kRecursiveMultiplying, kSlices},   // reduce
    {kCombine, kRecursiveMultiplying, kSlices},   // allreduce
    {kCombine, kRecursiveMultiplying, kSlices},   // reduce_scatter
    {kLookBack, kRecursiveMultiplying, kSlices},  // scan
    {kLookBack, kRecursiveMultiplying, kSlices},  // exscan
};

}  // namespace

bool is_valid_kind(nagaya_collective_kind kind) {
  return static_cast<size_t>(kind) < std::size(kRows);
}

const Algorithm& algorithm_of(const nagaya_collective& what, const Team& team) {
  const Row& row = kRows[what.kind];
  const nagaya_elements& elements = what.elements;
  const bool is_reduction = what.kind >= NAGAYA_REDUCE;
  const auto limit = what.kind == NAGAYA_REDUCE && team.is_crowded()
                         ? llcl::Tuned::kCrowdedReduceMaxBytes
                         : llcl::Tuned::kCombinedMaxBytes;
  const bool is_short =
      !is_reduction ||
      (elements.copy == nullptr && elements.count * elements.extent <= llcl::Tuning::own()[limit]);
  if (!is_short) return row.longer;
  if (what.kind == NAGAYA_ALLTOALL && !can_exchange(what, team.size())) return row.algorithm;
  return team.is_large() ? row.large : row.algorithm;
}

}  // namespace nagaya::coll
