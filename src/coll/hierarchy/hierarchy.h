// SPDX-License-Identifier: BSD-3-Clause
// hierarchy.h - collectives over several nodes: members of a node use its shared memory, leaders of
// different nodes exchange messages.
//
// Every member chooses the same algorithm: the choice depends only on values that are equal at all.
#pragma once

#include "coll/hierarchy/schedule.h"

namespace nagaya::coll::hierarchy {

// Returns the algorithm for `what`; nullptr: its kind is unknown.
const MultiNodeAlgorithm* algorithm_of(const nagaya_collective& what,
                                       const processes::RanksByNode& nodes);

// In the pictures: 5 ranks on two nodes (0 1 2 | 3 4), 7 on three (0 1 2 | 3 4 | 5 6); ─► in a
// node, ═► between nodes.

// Fan-in to each node's leader, dissemination between the leaders, fan-out.
//
//   1, 2 ─► 0   4 ─► 3      round 0:  0 ═► 3 ═► 5 ═► 0     round 1:  0 ═► 5 ═► 3 ═► 0
extern const MultiNodeAlgorithm kBarrier;

// Messages along a binomial tree of nodes whose top is the root's node; then fan-out in each node
// from its leader.
//
//   root 1:   1 ═► 3    1 ═► 5    then   1 ─► 0, 2    3 ─► 4    5 ─► 6
//
// A root that may detach sends a long block to 3 and 5 when they have announced by a message that
// they are ready, or when it has made a copy.
extern const MultiNodeAlgorithm kBcast;

// Fan-in to each node's leader, then messages up the tree of kBcast. Nodes' elements are combined
// in the order of the nodes.
//
//   root 1:   0, 2 ─► 1    4 ─► 3    6 ─► 5    then   3 ═► 1, then 5 ═► 1
extern const MultiNodeAlgorithm kReduce;

// Fan-in to each node's leader. Each leader sends all its elements to each other one (short), or
// combines one slice and sends the result to each other one (long). Fan-out.
//
//   0 ◄═► 3 ◄═► 5 ◄═► 0
extern const MultiNodeAlgorithm kAllreduce;

// Fan-in to each node's leader. Each leader sends each other one the elements for the ranks of that
// one's node. Fan-out.
extern const MultiNodeAlgorithm kReduceScatter;

// All leaders collect all ranks' elements uncombined. Each member combines the elements of its own
// result from its leader's memory. For scans, and for reductions that must not combine node by
// node.
extern const MultiNodeAlgorithm kGatherAllThenReduce;

// Fan-in to each node's leader, which sends all blocks of its node to the root in one message.
// Scatter: the same messages backwards.
//
//   root 1:   0, 2 ─► 1    4 ─► 3 ═(3 4)═► 1    6 ─► 5 ═(5 6)═► 1
extern const MultiNodeAlgorithm kGather, kScatter;

// Fan-in as in kGather, then each leader sends its node's blocks to all leaders. Members copy all
// blocks from their leader.
extern const MultiNodeAlgorithm kAllgather;

// Short blocks: a leader sends one message for all pairs of members of two nodes.
//
//   0 1 2 ─► 0 ◄═ 3 x 2 blocks ═► 3 ◄─ 3 4
extern const MultiNodeAlgorithm kAlltoall;

// Each rank sends its blocks for ranks of other nodes itself: for long blocks, and for blocks whose
// sizes not all ranks know. Blocks for ranks of the own node move as in a team of one node.
extern const MultiNodeAlgorithm kGatherByRank, kScatterByRank, kAlltoallByRank;

}  // namespace nagaya::coll::hierarchy
