// SPDX-License-Identifier: BSD-3-Clause
// delegatee.h - the node's communication server: one thread of the host that carries out the
// commands of the node's tasks on other nodes, and the commands of other nodes' tasks on this one.
// Page: docs/delegatee.md.
//
//   lanes ──► Requester ──► Outbox ──► fabric ──► Target of another node ──► its tasks' memory
//   flags ◄──          ◄────────────── fabric ◄──
//
// Thread safety: one thread calls run() or round(), and it alone uses the Fabric. Functions that
// any thread may call stand under "any thread".
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

  // Serves until stop(); then every command that is left ends with -ESHUTDOWN.
  void run() noexcept;
  // Polls lanes and network once, without sleeping. Returns true if anything moved. Tests call it
  // in place of run().
  bool round();

  // ---- any thread ----
  void stop();
  // Discards the commands of an ended task, without completions. The delegatee calls
  // Delivery::released when nothing touches the task's memory any more.
  void abandon(uint32_t task);
  // Processor time of the thread of run() [s]; 0 before run().
  double processor_seconds() const;
  // Batches sent, for measurement.
  uint64_t batches() const { return batches_.load(std::memory_order_relaxed); }
  // Requests of that kind that tasks of this node have made to other nodes.
  uint64_t requests(llcl::Op op) const { return requester_.accepted(op); }
  // Received batches that were dropped, because they did not prove that they were of this job.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kEvents = 64;
  struct Liveness {
    uint64_t heard_ns;   // the last sign of life, or when something began to be awaited
    uint64_t probed_ns;  // 0: not probed since heard_ns
    uint64_t told_ns;    // when this node last told it "I live", or began to watch it
    bool is_watched;
    bool is_overdue;  // the latest check found no answer in time

    // Time at which the node is to be probed, or, if it was probed, to be given up [ns].
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

  bool awaits(Node node) const { return requester_.awaits(node) || target_.reads_of(node); }
  bool watch();
  bool watch(Node node);
  void tell(Node node);
  bool watch_neighbour();
  bool probe_or_give_up(Node node);
  void forgive_silence();
  void abandon_ended();
  void release_ended();
  void answer_after_yield();
  bool keeps_polling() const;
  bool awaits_answer_soon();
  bool somebody_waits() const { return load_.waiting.load(std::memory_order_relaxed) != 0; }
  int sleep_max_ms() const;
  // The waiter of mailbox::wait().
  struct Backoff {
    Delegatee& self;

    mailbox::Pause pause() {
      if (!self.keeps_polling()) return mailbox::Pause::kSleep;
      return self.awaits_answer_soon() ? mailbox::Pause::kSpin : mailbox::Pause::kYield;
    }
    void spin() {}
    void yield() { self.yield(); }
    void arm();
    void sleep();
    void disarm() { self.bell_.disarm(); }
  };
  void yield();
  void notice_computing(uint64_t back_ns);

  fabric::Fabric& fabric_;
  const uint32_t nodes_;
  const Node neighbour_;  // node n watches node n + 1, so that each node is watched by one
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
  bool has_news_ = false;          // something other than probes and their answers has moved
  uint64_t moved_ns_ = 0;          // when has_news_ was last found set
  uint64_t last_eviction_ns_ = 0;  // when unused regions were last evicted
  uint32_t long_yields_ = 0;       // long yields in a row
  uint64_t crowded_until_ns_ = 0;  // yields took long, so other threads want this processor
  uint64_t away_since_ns_ = 0, away_ns_ = 0;  // long yields to one computing thread, since when
  uint64_t computing_until_ns_ = 0;           // that thread probably computes until then
  uint32_t short_sleeps_ = 0;                 // in a row
  bool fabric_is_broken_ = false;
  // The latest poll found one short message, or the end of the last transfer, apart from messages
  // that have left.
  bool has_lone_arrival_ = false;
  bool has_told_ = false;             // something has come since the last yield
  bool was_last_yield_long_ = false;  // the latest yield took long
  // Spinning for an answer: the moved_ns_ that began the latest window, whether this thread spins
  // in it, windows in a row without an answer, and windows to let pass without a spin.
  uint64_t spin_window_ns_ = 0;
  bool is_spinning_ = false;
  uint32_t spins_missed_ = 0, spins_to_skip_ = 0;
  bool was_woken_by_network_ = false;  // a descriptor of the fabric ended the latest sleep

  std::vector<uint32_t> releasing_;  // ended tasks whose memory is not released
  std::mutex ended_mutex_;           // guards ended_
  std::vector<uint32_t> ended_;
  // has_ended_tasks_ and is_stopped_ are set with release, after the state that they announce;
  // run() reads them with acquire.
  std::atomic<bool> has_ended_tasks_{false};
  std::atomic<bool> is_stopped_{false};
  std::atomic<clockid_t> clock_{kNoClock};  // of the thread; relaxed: orders no other data
  std::atomic<double> final_seconds_{0};    // set when the thread leaves run(); relaxed
  std::atomic<uint64_t> batches_{0};        // relaxed
  std::atomic<uint64_t> refused_{0};        // relaxed
  static constexpr clockid_t kNoClock = -1;
};

}  // namespace nagaya::delegatee
