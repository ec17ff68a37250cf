// SPDX-License-Identifier: BSD-3-Clause
// delegatee.h - the node's communication server: one thread of the host that carries out the
// commands of the node's tasks on other nodes, and theirs on this one. Page: docs/delegatee.md.
//
//   lanes ──► Requester ──► Outbox ──► fabric ──► Target of another node ──► its tasks' memory
//   flags ◄──          ◄────────────── fabric ◄──
//
// Thread safety: run() or round() belongs to one thread, the Fabric too; the rest is as it says.
#pragma once

#include <time.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "base/fd.h"
#include "delegatee/proof.h"
#include "delegatee/requester.h"
#include "delegatee/target.h"
#include "mailbox/thread_bell.h"
#include "mailbox/waiting.h"

namespace nagaya::delegatee {

struct Surroundings {
  fabric::Fabric& fabric;  // connected
  Node self;
  std::span<const Secret> secrets;  // of all nodes, in their order; read by the constructor only
  Lanes& lanes;
  Regions& regions;
  Delivery& delivery;
  mailbox::ThreadBell& bell;  // shared with the tasks
  mailbox::Load& load;        // of this node, this thread included while it is awake
};

class Delegatee {
 public:
  // Throws base::Error.
  Delegatee(const Surroundings& surroundings, const Options& options);

  // Until stop(); then every command that it still has ends in -ESHUTDOWN.
  void run() noexcept;
  // One look at everything, without sleep, in place of run(): for tests. Whether anything moved.
  bool round();

  // ---- any thread ----
  void stop();
  // The task has ended. Its commands end without a trace; when nothing touches its memory any more,
  // Delivery::released says so.
  void abandon(uint32_t task);
  // Of the thread of run(); 0 before.
  double processor_seconds() const;
  // Batches sent, for measurement.
  uint64_t batches() const { return batches_.load(std::memory_order_relaxed); }
  // Requests of that kind that tasks of this node have made to other nodes.
  uint64_t requests(llcl::Op op) const { return requester_.accepted(op); }
  // Batches that came and were dropped, because they did not prove that they were of this job.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kEvents = 64;
  struct Liveness {
    uint64_t heard_ns;   // the last sign of life, or when something began to be awaited
    uint64_t probed_ns;  // 0: not since then
    uint64_t told_ns;    // when it was last told that this node lives, or began to be watched
    bool is_watched;
    bool is_overdue;  // there was no answer in time, as far as the last look has shown

    // When the node is to be probed, or, if it was, to be given up.
    uint64_t due_ns(const Options& options) const;
  };

  // Acquire: pairs with stop().
  bool is_to_stop() const { return is_stopped_.load(std::memory_order_acquire); }
  void wait_and_serve();
  bool poll();
  void handle(const fabric::Event& event);
  void receive(std::span<const std::byte> message);
  bool serve(Node node, const Header& header, std::span<const std::byte> payload);
  void heard(Node node) {
    Liveness& peer = liveness_[node];
    peer = {now_ns_, 0, peer.told_ns, peer.is_watched, false};
  }
  void fail(Node node, int error);
  void forget(Node node, int error);
  void fail_all(int error);
  void give_up_fabric();

  bool watch();
  bool watch(Node node);
  void tell(Node node);
  bool watch_neighbour();
  bool probe_or_give_up(Node node);
  void forgive_silence();
  void abandon_ended();
  void release_ended();
  void answer_after_yield();
  bool polls_on() const;
  bool somebody_waits() const { return load_.waiting.load(std::memory_order_relaxed) != 0; }
  int sleep_max_ms() const;
  // The waiter of mailbox::wait().
  struct Patience {
    Delegatee& self;

    mailbox::Pause pause() {
      return self.polls_on() ? mailbox::Pause::kYield : mailbox::Pause::kSleep;
    }
    void spin() {}
    void yield() { self.yield(); }
    void arm();
    void sleep();
    void disarm() { self.bell_.disarm(); }
  };
  void yield();

  fabric::Fabric& fabric_;
  const uint32_t nodes_;
  const Node neighbour_;  // node n + 1 of node n: each node is watched by one
  Lanes& lanes_;
  Delivery& delivery_;
  mailbox::ThreadBell& bell_;
  mailbox::Load& load_;
  const Options options_;

  Proofs proofs_;
  Outbox outbox_;
  Requester requester_;
  Target target_;
  std::vector<Liveness> liveness_;
  std::vector<Node> watched_;
  std::vector<fabric::Event> events_;
  std::vector<pollfd> descriptors_;
  uint64_t now_ns_ = 0;
  bool has_news_ = false;          // something has moved, and not only probes and their answers
  uint64_t moved_ns_ = 0;          // when there was news last
  uint64_t let_go_ns_ = 0;         // when regions that nobody used were last let go of
  uint32_t long_yields_ = 0;       // in a row
  uint64_t crowded_until_ns_ = 0;  // yields took long: others want this processor
  bool fabric_is_broken_ = false;
  bool has_lone_message_ = false;  // and nothing else: short, of the latest look
  bool was_long_away_ = false;     // yielding

  std::vector<uint32_t> releasing_;  // ended tasks whose memory is not released
  std::mutex ended_mutex_;           // ended_
  std::vector<uint32_t> ended_;
  // Set after what it announces, with release; run() reads it with acquire.
  std::atomic<bool> has_ended_tasks_{false};
  std::atomic<bool> is_stopped_{false};
  std::atomic<clockid_t> clock_{kNoClock};  // of the thread; nothing is read on its strength
  std::atomic<double> final_seconds_{0};    // when the thread has left run(): as clock_
  std::atomic<uint64_t> batches_{0};        // as clock_
  std::atomic<uint64_t> refused_{0};        // as clock_
  static constexpr clockid_t kNoClock = -1;
};

}  // namespace nagaya::delegatee
