// SPDX-License-Identifier: BSD-3-Clause
// schedule.h - one collective over several nodes under way, as one member sees it.
//
//   first ──► between, round 0 ──► round 1 ... ──► last ──► end
//     │          └ a leader's messages               │        └ results where they belong
//     └ to the leader, in the node                   └ from the leader, in the node
//
// Each stage adds steps: collectives of the node, messages. A stage begins when all steps of the
// one before are complete; steps of one stage do not depend on each other. Nobody polls a schedule:
// the thread that completes its last step goes on with it, in any wait of the task.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "coll/hierarchy/wide_team.h"
#include "coll/operation.h"
#include "layout/blocks.h"
#include "layout/runs.h"

namespace nagaya::coll::hierarchy {

class Schedule;

// How a collective is done. Any stage may be missing. All may throw std::bad_alloc.
struct WideAlgorithm {
  const char* name;
  bool has_root = false, fans_out = false;
  void (*first)(Schedule& schedule) = nullptr;
  // Adds the steps of that round, from 0; false: it needs no more of them.
  bool (*between)(Schedule& schedule, uint32_t round) = nullptr;
  void (*last)(Schedule& schedule) = nullptr;
  void (*end)(Schedule& schedule) = nullptr;
};

class Schedule {
 public:
  // Deletes itself when the collective is complete. May throw std::bad_alloc: then nothing has
  // happened.
  static void start(WideTeam& team, nagaya_collective& what, const WideAlgorithm& algorithm);
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  const nagaya_collective& what() const { return what_; }
  const llcl::NodeSets& nodes() const { return team_.nodes(); }
  uint32_t rank() const { return team_.rank(); }
  uint32_t size() const { return team_.size(); }
  uint32_t node() const { return nodes().node_of(rank()); }
  std::span<const uint32_t> own_ranks() const { return nodes().ranks_of(node()); }
  bool is_alone() const { return own_ranks().size() == 1; }
  // The member that speaks for a node: the root for its own, of the others the lowest.
  uint32_t leader_of(uint32_t node) const;
  bool is_leader() const { return leader_of(node()) == rank(); }
  bool is_root() const { return rank() == what_.root; }
  // Calls each(to, from) for all nodes but the own one, each once as `to` and once as `from`, so
  // that no two leaders send to the same one at once.
  template <class Each>
  void for_each_other_node(Each each) const {
    const uint32_t own = node(), count = nodes().nodes();
    for (uint32_t n = 1; n < count; ++n) each((own + n) % count, (own + count - n) % count);
  }

  // ---- steps

  // Of the node's members, from or to its leader.
  nagaya_collective new_local(nagaya_collective_kind kind) const {
    nagaya_collective local = {};
    local.kind = kind;
    local.root = nodes().index_of(leader_of(node()));
    return local;
  }
  // Adds such a collective: each member of the node adds it in the same stage, one for each way at
  // most; the way in in the first stage. Its root is a member's index in the node.
  void fan_in(const nagaya_collective& what) {
    fan_in_.number = team_.fan_in().new_number();
    set_local(fan_in_, what);
  }
  void fan_out(const nagaya_collective& what) { set_local(fan_out_, what); }
  // BCAST or SCATTER of the leader's `buffer`, `bytes` for all or for each: a member's `store` gets
  // them, with the schedule as context.
  void fan_out_to(void (*store)(void*, uint32_t, const void*, size_t), nagaya_collective_kind kind,
                  size_t bytes);
  void send(uint32_t to, const layout::Buffer& from, size_t bytes);
  void send(uint32_t to, const void* data, size_t bytes) {
    send(to, {data, bytes, nullptr}, bytes);
  }
  // A block that stays where it is until the other leader says, by a message without data, that it
  // has come: then it is sent from there, unless detach() has sent a copy before.
  void offer(uint32_t to, const layout::Buffer& from, size_t bytes);
  void receive(uint32_t from, const layout::Buffer& to, size_t bytes);
  void receive(uint32_t from, void* buffer, size_t bytes) {
    receive(from, {buffer, bytes, nullptr}, bytes);
  }

  // ---- a block that its root wants back

  struct Release {
    void operator()(Schedule* schedule) const { schedule->finish_step(0); }
  };
  using Held = std::unique_ptr<Schedule, Release>;
  // The schedule of a collective that is under way, which does not go on until it is released.
  // nullptr: all of its messages are over. By the thread that may start others of the team.
  static Held hold(WideTeam& team, nagaya_collective& what);
  // Of a BCAST's root that may detach, once: as Operation::detach(). Whether there is a copy.
  bool detach();
  // Whether its block is the caller's again.
  bool is_unread();

  // ---- data that stages keep for the next

  // Uninitialised, until the collective is complete.
  std::byte* new_scratch(size_t bytes);
  std::byte *buffer = nullptr, *other = nullptr;
  uint32_t level = 0;
  bool is_receiving = false, has_sent = false;
  std::vector<size_t> sizes;
  std::vector<ptrdiff_t> offsets;

  // ---- blocks

  // Those of the node's members, of one for each rank. May throw std::bad_alloc.
  nagaya_blocks own_blocks(const nagaya_blocks& all);
  // Gives the block that has come from `rank` to the caller.
  void take(uint32_t rank, const void* data, size_t bytes);
  // For collectives of the node: the same, from a member's index.
  static void take_from_member(void* schedule, uint32_t index, const void* data, size_t bytes);
  void fail(int error) { error_.store(error, std::memory_order_relaxed); }

 private:
  enum class Stage : uint8_t { kFirst, kBetween, kLast, kEnd };
  struct Local {
    nagaya_collective what = {};
    Schedule* schedule = nullptr;  // nullptr: none in this stage
    uint64_t number = 0;           // among those of its team
  };
  struct Send {
    nagaya_send send;
    Schedule* schedule;
  };
  struct Receive {
    nagaya_receive receive;
    Schedule* schedule;
  };
  //   awaited -> read     the other leader's message has come: sent from the caller's memory
  //   read    -> over     the send is complete
  //   awaited -> copied   detach(): sent from a copy. The other's message is still to come
  struct Offer {
    enum class State : uint8_t { kAwaited, kRead, kOver, kCopied };

    nagaya_receive ready;
    nagaya_send send;
    Schedule* schedule;
    std::atomic<State> state;

    bool is(State wanted) const { return state.load(std::memory_order_acquire) == wanted; }
    // Whether it was awaited, and is in `next` now.
    bool leave_awaited(State next) {
      State awaited = State::kAwaited;
      return state.compare_exchange_strong(awaited, next, std::memory_order_acq_rel);
    }
  };

  Schedule(WideTeam& team, nagaya_collective& callers, const WideAlgorithm& algorithm);
  // Copies the caller's blocks that lie in runs, and has those that come stored into runs.
  void pack();
  static void store_in_runs(void* schedule, uint32_t rank, const void* data, size_t bytes);
  layout::Block block_from(uint32_t rank) const;  // where that rank's goes
  void prepare(nagaya_send& send, uint32_t to, const layout::Buffer& from, size_t bytes) const;
  void prepare(nagaya_receive& receive, uint32_t from, const layout::Buffer& to,
               size_t bytes) const;
  void begin(Offer& offer);
  Operation* fan_out_operation() const { return static_cast<Operation*>(fan_out_.what.operation); }
  void set_local(Local& local, const nagaya_collective& what);
  bool add_stage();
  void launch();
  void start_local(Local& local, Team& team);
  void go_on();
  void finish_step(int error);
  void finish();

  WideTeam& team_;
  nagaya_collective& callers_;
  nagaya_collective what_;  // a copy, which pack() changes
  const WideAlgorithm& algorithm_;
  Stage stage_ = Stage::kFirst;
  uint32_t round_ = 0;
  std::atomic<uint32_t> pending_ = 0;  // steps of the stage, and 1 while they are started
  std::atomic<int> error_ = 0;
  Local fan_in_, fan_out_;
  std::deque<Send> sends_;
  std::deque<Receive> receives_;
  std::deque<Offer> offers_;
  std::vector<std::unique_ptr<std::byte[]>> scratch_;
  const uint64_t number_;  // taken last: a schedule for which there is no memory has none
};

}  // namespace nagaya::coll::hierarchy
