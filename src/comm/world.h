// SPDX-License-Identifier: BSD-3-Clause
// world.h - all processes of a job, one description for the node, shared by its tasks.
//
//   Board.world ──► World: | header | processes, by rank | windows, by node | own window |
//   window: | 32 counters: rounds of the barrier | a slot of 256 bytes for every rank |
//
// Made by the first task that comes (compare-and-swap of Board.world: it speaks for its node), in
// the space heap. It counts who has come; the speaker fills in what only the launcher knows.
//
//   state: making -> ready    the last task to come (one node), or the speaker (several)
//          making -> failed   the speaker; `error` says why
//
// Every node's window can be written from everywhere (llcl). The barrier: tasks count themselves
// in; the last one meets the other nodes by dissemination, in ceil(log2(nodes)) rounds:
//
//   round 0: node n adds 1 to counter 0 of node n+1       5 nodes: 0>1>2>3>4>0
//   round 1: node n adds 1 to counter 1 of node n+2                0>2 1>3 2>4 3>0 4>1
//   round 2: node n adds 1 to counter 2 of node n+4                0>4 1>0 2>1 3>2 4>3
//
// Counters only grow, so that a node which is a barrier ahead does no harm.
// Death of a task: its job dies (law 4). Whoever waits does so in the space of that job.
#pragma once

#include "comm/meeting.h"
#include "llcl/endpoint.h"
#include "task/client.h"

namespace nagaya::comm {

inline constexpr size_t kSlotBytes = 256;
inline constexpr size_t kRoundsMax = 32;

enum class WorldState : uint32_t { kMaking, kReady, kFailed };

struct World {
  task::Stamp stamp;
  uint32_t size;
  uint32_t nodes;
  uint32_t node;
  uint32_t tasks_here;
  int32_t error;  // of a node that cannot be reached; 0: none yet
  std::atomic<WorldState> state;
  std::atomic<uint32_t> came;      // tasks of this node
  std::atomic<uint32_t> arrived;   // at the present barrier
  std::atomic<uint32_t> barriers;  // that this node has left
  nagaya_process* processes;       // by rank
  nagaya_remote* windows;          // by node
  std::byte* window;

  std::atomic_ref<uint64_t> round(size_t n) const {
    return std::atomic_ref(reinterpret_cast<uint64_t*>(window)[n]);
  }
  static constexpr uint64_t round_at(size_t n) { return n * sizeof(uint64_t); }
  static constexpr uint64_t slot_at(uint64_t rank) {
    return kRoundsMax * sizeof(uint64_t) + rank * kSlotBytes;
  }
};

// This process's part in it. Every function is collective; -errno, or throws base::Error.
class Membership {
 public:
  explicit Membership(llcl::Endpoint& endpoint);

  World& world() const { return *world_; }
  uint32_t rank() const { return meeting_->rank(); }

  int barrier();
  int allgather(const void* own, size_t bytes, void* all);

 private:
  void join_one_node();
  void join_nodes(bool is_speaker);
  void introduce_nodes(const std::vector<Card>& cards, task::Client& host);
  void await_world();
  int meet_other_nodes();
  int await_round(uint32_t round, uint32_t apart, uint64_t barrier);
  int add_to_round(uint32_t node, uint32_t round, uint64_t count);
  int write_slots(const std::byte* from, size_t bytes);

  llcl::Endpoint& endpoint_;
  std::unique_ptr<Meeting> meeting_;
  World* world_ = nullptr;
};

}  // namespace nagaya::comm
