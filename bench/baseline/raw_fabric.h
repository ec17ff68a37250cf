// SPDX-License-Identifier: BSD-3-Clause
// raw_fabric.h - libfabric as a program uses it without a runtime, to compare with: an endpoint of
// its own with the delegatee's provider and settings, for one thread or for several, and at the
// other process a server, because data moves only while a thread polls.
//
// Threads that share an endpoint wait as tasks do: one of them, the leader, polls for completions
// and pauses; the others spin, yield and sleep on bells of their own, which the leader rings.
// A thread that leaves while no thread leads wakes one of the waiting threads.
#pragma once

#include <array>
#include <deque>
#include <mutex>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/provider.h"
#include "mailbox/waiting.h"

namespace nagaya::bench {

// The way in which the threads of a process exclude each other.
enum class Sharing : uint32_t {
  kOneThread,   // there is only one thread
  kMutex,       // around every call of libfabric
  kThreadSafe,  // libfabric does it: FI_THREAD_SAFE
};

// The pause of the leader, or the server, after a poll that found nothing.
enum class Pause : uint32_t { kSpin, kYield, kSleep };

class RawFabric {
 public:
  class Thread;

  // The constructor and all functions below throw base::Error.
  explicit RawFabric(Sharing sharing);

  std::string address() const;
  fabric::Region expose(void* base, size_t bytes);
  void connect(const std::string& peer, const fabric::Region& its_memory);
  // Called before `threads` threads begin.
  void prepare(Pause pause, uint32_t threads, uint32_t processors);

  // Drives the network, and adds to `word` the operands of the peer's fetch_add(), until the peer
  // calls dismiss(). One thread.
  void serve(std::atomic<uint64_t>& word, Pause pause);
  void dismiss() { send({Message::kStop, 0}); }
  // Sends the operand to the serving peer; returns its answer, the word's old value. One thread.
  uint64_t fetch_add(uint64_t operand);

 private:
  struct Message {
    static constexpr uint64_t kAdd = 1, kStop = 2, kAnswer = 3;
    uint64_t kind, value;
  };
  struct Operation {
    fi_context2 context;       // first: completions name its address
    Thread* thread = nullptr;  // nullptr: a receive
    Message message{};         // buffer of a receive, with its descriptor
    void* descriptor = nullptr;
    // Set by the operation's thread; cleared, with release, by the leader: the thread may use the
    // operation again.
    std::atomic<bool> is_pending{false};
  };
  static constexpr size_t kReceives = 16;

  std::unique_lock<std::mutex> lock();
  fabric::Owned<fid_mr> registered(void* base, size_t bytes, uint64_t access);
  fabric::Owned<fid_mr> registered_local(void* base, size_t bytes, uint64_t access);
  bool wants(uint64_t mr_mode) const { return (opened_.info->domain_attr->mr_mode & mr_mode) != 0; }

  bool progress();
  void pause(Pause how);
  void post_receive(Operation& operation);
  Message received(Pause pause);
  void send(const Message& message);

  // Seq_cst, with Thread::is_waiting_: a thread that stops waiting, and then finds no leader, wakes
  // another thread; a thread that stops leading checks for waiting threads afterwards.
  template <class Work>
  bool try_lead(Work work);
  void call_a_leader();

  const Sharing sharing_;
  std::array<Operation, kReceives> receives_;
  fabric::Endpoint opened_;
  fabric::Owned<fid_mr> receive_memory_[kReceives];
  std::vector<fabric::Owned<fid_mr>> exposed_;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  fabric::Region peer_memory_{};
  std::mutex mutex_;  // kMutex: around every call of libfabric
  std::deque<Operation*> inbox_;

  Pause pause_ = Pause::kSpin;
  mailbox::Load load_{};
  std::vector<Thread*> threads_;
  std::atomic<bool> is_led_{false};
};

// One thread's requests, of which it may have kOperations pending. Made and destroyed while no
// other thread is at work.
class RawFabric::Thread {
 public:
  static constexpr size_t kOperations = 256;

  // All data goes to [local, local + bytes).
  Thread(RawFabric& fabric, void* local, size_t bytes);
  ~Thread();

  // Starts a read. False: no room just now.
  bool try_read(void* to, size_t bytes, uint64_t offset);
  // Waits until `least` of all requests are complete.
  void wait(uint64_t least);
  uint64_t completed() const { return completed_.load(std::memory_order_acquire); }

 private:
  friend RawFabric;
  void complete(Operation& operation);

  RawFabric& fabric_;
  fabric::Owned<fid_mr> local_memory_;
  std::deque<Operation> operations_;
  size_t next_ = 0;
  std::atomic<uint64_t> completed_{0};  // release by the leader, acquire by the thread
  std::atomic<bool> is_waiting_{false};
  mailbox::Doorbell bell_{};
};

}  // namespace nagaya::bench
