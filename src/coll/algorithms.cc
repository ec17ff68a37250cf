// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.h"

#include "coll/move.h"
#include "coll/reduce.h"
#include "llcl/tuning.h"

namespace nagaya::coll {
namespace {

// In the order of nagaya_collective_kind. `longer`: of elements with gaps, or above kCombined.
struct Row {
  const Algorithm& algorithm;
  const Algorithm& longer = algorithm;
};
const Row kRows[] = {
    {kMove},              // barrier
    {kMove},              // bcast
    {kMove},              // gather
    {kMove},              // scatter
    {kMove},              // allgather
    {kMove},              // alltoall
    {kCombine, kSlices},  // reduce
    {kCombine, kSlices},  // allreduce
    {kCombine, kSlices},  // reduce_scatter
    {kCombine, kSlices},  // scan
    {kCombine, kSlices},  // exscan
};

}  // namespace

const Algorithm* algorithm_of(const nagaya_collective& what) {
  if (static_cast<size_t>(what.kind) >= std::size(kRows)) return nullptr;
  const Row& row = kRows[what.kind];
  const nagaya_elements& elements = what.elements;
  const bool is_short = elements.copy == nullptr && elements.count * elements.extent <=
                                                        llcl::Tuning::own()[llcl::Tuned::kCombined];
  return is_short ? &row.algorithm : &row.longer;
}

}  // namespace nagaya::coll
