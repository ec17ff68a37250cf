// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/hierarchy.h"
#include "layout/blocks.h"
#include "llcl/requests/tuning.h"

namespace nagaya::coll::hierarchy {
namespace {

bool is_long(const nagaya_collective& what) {
  return layout::block_of(what.send, 0).bytes() >
         llcl::Tuning::own()[llcl::Tuned::kAlltoallByLeadersMaxBytes];
}

}  // namespace

const MultiNodeAlgorithm* algorithm_of(const nagaya_collective& what,
                                       const processes::RanksByNode& nodes) {
  // Whether each node's elements may be combined first: no ranks of other nodes lie between the
  // node's ranks, or the operation commutes.
  const bool keeps_order = nodes.are_blocks() || what.elements.commutes != 0;
  switch (what.kind) {
    case NAGAYA_BARRIER:
      return &kBarrier;
    case NAGAYA_BCAST:
      return &kBcast;
    case NAGAYA_GATHER:
      return what.varies != 0 ? &kGatherByRank : &kGather;
    case NAGAYA_SCATTER:
      return what.varies != 0 ? &kScatterByRank : &kScatter;
    case NAGAYA_ALLGATHER:
      return &kAllgather;
    case NAGAYA_ALLTOALL:
      return what.varies != 0 || is_long(what) ? &kAlltoallByRank : &kAlltoall;
    case NAGAYA_REDUCE:
      return keeps_order ? &kReduce : &kGatherAllThenReduce;
    case NAGAYA_ALLREDUCE:
      return keeps_order ? &kAllreduce : &kGatherAllThenReduce;
    case NAGAYA_REDUCE_SCATTER:
      return keeps_order ? &kReduceScatter : &kGatherAllThenReduce;
    case NAGAYA_SCAN:
    case NAGAYA_EXSCAN:
      return &kGatherAllThenReduce;
  }
  return nullptr;
}

}  // namespace nagaya::coll::hierarchy
