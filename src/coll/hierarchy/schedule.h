// SPDX-License-Identifier: BSD-3-Clause
// schedule.h - the state of one member in one pending collective over several nodes. Each algorithm
// is a derived class: it implements the stages, and its members are the data that they share.
//
//   first ──► between, round 0 ──► round 1 ... ──► last ──► end
//     │          └ a leader's messages               │        └ results where they belong
//     └ to the leader, in the node                   └ from the leader, in the node
//
// Each stage adds steps: collectives of the node, messages. A stage begins when all steps of the
// stage before are complete; steps of one stage do not depend on each other. Nobody polls a
// schedule: the thread that completes a stage's last step, in any wait of the task, begins the next
// stage.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "coll/hierarchy/multi_node_team.h"
#include "coll/operation.h"
#include "layout/blocks.h"
#include "layout/runs.h"

namespace nagaya::coll::hierarchy {

class Schedule;

// One way to do a collective.
struct MultiNodeAlgorithm {
  const char* name;
  // Makes a schedule of the algorithm's class: Schedule::make<Class>. May throw std::bad_alloc.
  Schedule* (*make)(MultiNodeTeam& team, nagaya_collective& what,
                    const MultiNodeAlgorithm& algorithm);
  bool has_root = false;  // the root leads its node
  bool fans_out = false;  // last() calls fan_out(), whose number start() takes
};

class Schedule {
 public:
  // Makes a schedule, which deletes itself when the collective is complete, and begins its first
  // stage. May throw std::bad_alloc: then nothing has happened.
  static void start(MultiNodeTeam& team, nagaya_collective& what,
                    const MultiNodeAlgorithm& algorithm);
  // For MultiNodeAlgorithm::make.
  template <class Derived>
  static Schedule* make(MultiNodeTeam& team, nagaya_collective& what,
                        const MultiNodeAlgorithm& algorithm) {
    return new Derived(team, what, algorithm);
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  const nagaya_collective& what() const { return what_; }
  const processes::RanksByNode& nodes() const { return team_.nodes(); }
  uint32_t rank() const { return team_.rank(); }
  uint32_t size() const { return team_.size(); }
  uint32_t node() const { return nodes().node_of(rank()); }
  processes::RankList own_ranks() const { return nodes().ranks_of(node()); }
  bool is_alone_on_node() const { return own_ranks().size() == 1; }
  // Returns the rank that sends and receives for a node: the root for its own node if the algorithm
  // has one, else the node's lowest rank.
  uint32_t leader_of(uint32_t node) const;
  bool is_leader() const { return leader_of(node()) == rank(); }
  bool is_root() const { return rank() == what_.root; }

  // ---- a block that its root wants back

  struct FinishStep {
    void operator()(Schedule* schedule) const { schedule->finish_step(0); }
  };
  using StepGuard = std::unique_ptr<Schedule, FinishStep>;
  // Returns the schedule of a pending collective, which begins no stage until the result is
  // destroyed; nullptr: all its steps are complete. Called by the thread that may start collectives
  // of the team.
  static StepGuard hold(MultiNodeTeam& team, nagaya_collective& what);
  // Called once by the root of a BCAST that may detach, as Operation::detach(). Returns whether it
  // has made a copy. May throw std::bad_alloc.
  bool detach();
  // After detach(): whether the root's caller may reuse its block.
  bool has_no_readers();

 protected:
  Schedule(MultiNodeTeam& team, nagaya_collective& callers, const MultiNodeAlgorithm& algorithm)
      : team_(team), callers_collective_(callers), what_(callers), algorithm_(algorithm) {}
  virtual ~Schedule() = default;

  // ---- stages: a derived class overrides those that it needs. All may throw std::bad_alloc

  virtual void first() {}
  // Adds the steps of round `round`, from 0. Returns false if no further round is needed.
  virtual bool between(uint32_t /*round*/) { return false; }
  virtual void last() {}
  virtual void end() {}
  // Called with the data that member `index` of the node has sent, in a collective of
  // new_node_collective() with `stores_data`. Unless overridden, delivers them as a block.
  virtual void store_data(uint32_t index, const void* data, size_t bytes) {
    deliver(receives_one_block() ? what_.root : own_ranks()[index], data, bytes);
  }

  // ---- steps

  // Returns an empty collective of the node's members whose root is the node's leader.
  // `stores_data`: store_data() gets the data that this member receives.
  nagaya_collective new_node_collective(nagaya_collective_kind kind, bool stores_data = false);
  // Adds a collective of the node's members, whose root is an index in the node. All members of the
  // node add it in the same stage: at most one fan_in(), in the first stage, and one fan_out(). A
  // member that is alone on its node adds nothing.
  void fan_in(const nagaya_collective& what);
  void fan_out(const nagaya_collective& what);
  // Adds a BCAST (`bytes` in all) or SCATTER (`bytes` for each member) of the leader's `data`.
  // store_data() of each member gets the data.
  void fan_out_data(nagaya_collective_kind kind, std::byte* data, size_t bytes);
  void send(uint32_t to, const layout::Buffer& from);
  // Sends a block once the leader `to` has announced by an empty message that it is ready: from the
  // caller's memory, unless detach() has sent a copy before.
  void send_when_ready(uint32_t to, const layout::Buffer& from);
  void receive(uint32_t from, const layout::Buffer& to);
  // Calls each(to, from) for all nodes but the own one, each once as `to` and once as `from`, so
  // that no two leaders send to the same one at once.
  template <class Each>
  void for_each_other_node(Each each) const {
    const uint32_t own = node(), count = nodes().nodes();
    for (uint32_t n = 1; n < count; ++n) each((own + n) % count, (own + count - n) % count);
  }

  // ---- memory and blocks

  // Returns uninitialised memory, valid until the collective is complete. May throw std::bad_alloc.
  std::byte* new_scratch(size_t bytes);
  // Returns a copy of the block of a BCAST's root, which detach() need not copy then. May throw
  // std::bad_alloc.
  std::byte* copy_block();
  // Picks the blocks of the node's members out of `all`, which has one for each rank. May throw
  // std::bad_alloc.
  nagaya_blocks own_blocks(const nagaya_blocks& all);
  // Hands the block received from `rank` to the caller: calls its `store`, or copies the block.
  void deliver(uint32_t rank, const void* data, size_t bytes);
  // Whether deliver() calls a `store`: the caller's, or one for receive blocks that lie in runs.
  bool has_store() const { return what_.store != nullptr; }
  // Whether a step of an earlier stage has failed.
  bool has_failed() const { return error_.load(std::memory_order_relaxed) != 0; }

 private:
  enum class Stage : uint8_t { kFirst, kBetween, kLast, kEnd };
  struct NodeCollective {
    nagaya_collective what = {};
    Schedule* schedule = nullptr;  // nullptr: none in this stage
    uint64_t number = 0;           // from its team's new_number()
  };
  struct SendStep {
    nagaya_send send;
    Schedule* schedule;
  };
  struct ReceiveStep {
    nagaya_receive receive;
    Schedule* schedule;
  };
  //   awaited -> reading    the other leader's message has arrived: sent from the caller's memory
  //   reading -> complete   the send is complete
  //   awaited -> copied     detach(): sent from a copy. The other leader's message is still pending
  struct DeferredSend {
    enum class State : uint8_t { kAwaited, kReading, kComplete, kCopied };

    nagaya_receive ready;
    nagaya_send send;
    Schedule* schedule;
    std::atomic<State> state;

    // Acquire: pairs with the store of kComplete.
    bool is(State wanted) const { return state.load(std::memory_order_acquire) == wanted; }
    // Changes kAwaited to `next`. Returns false, and changes nothing, in any other state.
    bool leave_awaited(State next) {
      State awaited = State::kAwaited;
      return state.compare_exchange_strong(awaited, next, std::memory_order_acq_rel);
    }
  };

  // If the caller's send blocks lie in runs, copies them into contiguous memory. If its receive
  // blocks do, sets store_in_runs() as `store`.
  void pack_runs();
  static void store_in_runs(void* schedule, uint32_t rank, const void* data, size_t bytes);
  bool receives_one_block() const {
    return what_.kind == NAGAYA_BCAST || what_.kind == NAGAYA_SCATTER;
  }
  layout::Buffer block_from(uint32_t rank) const {  // receive block for that rank
    return layout::block_of(what_.receive, receives_one_block() ? 0 : rank);
  }
  void prepare(nagaya_send& send, uint32_t to, const layout::Buffer& from) const;
  void prepare(nagaya_receive& receive, uint32_t from, const layout::Buffer& to) const;
  void begin(DeferredSend& deferred);
  Operation* fan_out_operation() const { return static_cast<Operation*>(fan_out_.what.operation); }
  void set_node_collective(NodeCollective& step, const nagaya_collective& what);
  bool add_stage();
  void start_steps();
  void start_node_collective(NodeCollective& step, Team& team);
  void run_stages();
  void fail(int error) { error_.store(error, std::memory_order_relaxed); }
  void finish_step(int error);
  void finish();

  MultiNodeTeam& team_;
  nagaya_collective& callers_collective_;
  nagaya_collective what_;  // a copy, which pack_runs() changes
  const MultiNodeAlgorithm& algorithm_;
  Stage stage_ = Stage::kFirst;
  uint32_t round_ = 0;
  std::atomic<uint32_t> pending_ = 0;  // steps of the stage, + 1 in start_steps(), + 1 while held
  std::atomic<int> error_ = 0;
  NodeCollective fan_in_, fan_out_;
  std::deque<SendStep> sends_;
  std::deque<ReceiveStep> receives_;
  std::deque<DeferredSend> deferred_sends_;
  std::vector<std::unique_ptr<std::byte[]>> scratch_;
  std::byte* copy_ = nullptr;  // from copy_block()
  uint64_t number_ = 0;        // from team_.new_number()
};

}  // namespace nagaya::coll::hierarchy
