// SPDX-License-Identifier: BSD-3-Clause
// hierarchy.h - collectives over several nodes: direct in each node, messages between leaders.
//
// The choice depends on nothing that the members may see differently.
#pragma once

#include "coll/hierarchy/schedule.h"

namespace nagaya::coll::hierarchy {

// nullptr: there is no such kind.
const WideAlgorithm* algorithm_of(const nagaya_collective& what, const llcl::NodeSets& nodes);

// In the pictures: 5 ranks on two nodes (0 1 2 | 3 4), 7 on three (0 1 2 | 3 4 | 5 6); ─► in a
// node, ═► between nodes.

// All members of a node to its leader, leaders among each other by dissemination, and back.
//
//   1, 2 ─► 0   4 ─► 3      round 0:  0 ═► 3 ═► 5 ═► 0     round 1:  0 ═► 5 ═► 3 ═► 0
extern const WideAlgorithm kBarrier;

// A binomial tree of nodes with the root's at its top; in each node from whoever speaks for it.
//
//   root 1:   1 ═► 3    1 ═► 5    then   1 ─► 0, 2    3 ─► 4    5 ─► 6
//
// A root that may detach sends a long block to 3 and 5 when they have said that they are there, or
// when it has made a copy.
extern const WideAlgorithm kBcast;

// To a leader in each node, then the same tree upwards. Nodes combine in their order.
//
//   root 1:   0, 2 ─► 1    4 ─► 3    6 ─► 5    then   3 ═► 1, then 5 ═► 1
extern const WideAlgorithm kReduce;

// To a leader in each node; between the leaders each sends all to each (short) or each combines a
// slice and sends it to each (long); back.
//
//   0 ◄═► 3 ◄═► 5 ◄═► 0
extern const WideAlgorithm kAllreduce;

// To a leader in each node; leaders send each other the parts of their nodes' members; back.
extern const WideAlgorithm kReduceScatter;

// All elements as they are to all leaders; each member combines those that its result has, from
// where its leader has them. Scans, and reductions whose order is not that of the nodes.
extern const WideAlgorithm kCollect;

// To a leader in each node, which sends all blocks of its node in one message. Scatter: backwards.
//
//   root 1:   0, 2 ─► 1    4 ─► 3 ═(3 4)═► 1    6 ─► 5 ═(5 6)═► 1
extern const WideAlgorithm kGather, kScatter;

// Gather as above to all leaders, and each node's members take what they get from their leader.
extern const WideAlgorithm kAllgather;

// Short blocks: a leader sends one message for all pairs of members of two nodes.
//
//   0 1 2 ─► 0 ◄═ 3 x 2 blocks ═► 3 ◄─ 3 4
extern const WideAlgorithm kAlltoall;

// Each rank's own messages to ranks of other nodes: long blocks, and blocks with sizes that not all
// ranks know. In the node as ever.
extern const WideAlgorithm kGatherEach, kScatterEach, kAlltoallEach;

}  // namespace nagaya::coll::hierarchy
