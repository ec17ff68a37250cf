// SPDX-License-Identifier: BSD-3-Clause
// offload.cc - the time that another thread adds to a request by carrying it out: a fetch-and-add
// over the loopback fabric, which costs no network, carried out by the requester itself and by a
// delegatee's thread on another processor. The two threads exchange only the command and its
// completion: the word at the other node is used by that node alone.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "delegatee/board_node.h"
#include "delegatee/delegatee.h"
#include "fabric/loopback.h"
#include "machine.h"
#include "program_main.h"
#include "task/space/space_memory.h"

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;
using mailbox::Machine;
using mailbox::Owner;

// A node whose only task is this process.
class Node {
 public:
  static constexpr Owner kTask = Owner::task(0, 1);

  Node(fabric::Fabric& fabric, fabric::Node self)
      : space_({.capacity = 1}),
        memory_(llcl::create_board(space_.header())),
        board(*static_cast<llcl::Board*>(space_.header().upper_floors)),
        node_(board),
        delegatee({fabric, self, kSecrets, node_, node_, node_, board.bells[0], board.load}, {}) {
    board.attached[0].store(kTask.bits, std::memory_order_release);
  }

 private:
  static constexpr delegatee::Secret kSecrets[2] = {};

  task::SpaceMemory space_;
  base::Mapping memory_;

 public:
  llcl::Board& board;

 private:
  delegatee::BoardNode node_;

 public:
  delegatee::Delegatee delegatee;
};

class Pair {
 public:
  Pair() : lane_(own_.board.lanes->claim(Node::kTask)) {
    add_.op = llcl::Op::kAtomic;
    add_.atomic = llcl::Atomic::kAdd;
    add_.completion_kind = llcl::Completion::kFlag;
    add_.completion = reinterpret_cast<uint64_t>(&flag_);
    add_.node = 1;
    add_.region = other_.board.regions->add(Node::kTask, &word_, sizeof word_);
    add_.data.word = {reinterpret_cast<uint64_t>(&before_),
                      static_cast<uint64_t>(llcl::Type::kUint64), 1, 0};
  }

  // Runs one round of the own delegatee. Returns true if it has handled something: then the other
  // node, which has no processor of its own here, may have work.
  bool own_round() { return own_.delegatee.round(); }
  void other_rounds() {
    while (other_.delegatee.round()) continue;
  }
  // Makes one fetch-and-add; returns the time that it took [ns]. Calls wait() between two polls of
  // the flag.
  template <class Wait>
  double add_ns(Wait wait) {
    ++count_;
    flag_ = 0;
    const auto start = Clock::now();
    if (!own_.board.lanes->push(lane_, add_)) throw std::runtime_error("the lane is full");
    while (is_under_way()) wait();
    const std::chrono::duration<double, std::nano> took = Clock::now() - start;
    return took.count();
  }
  bool is_under_way() { return std::atomic_ref(flag_).load(std::memory_order_acquire) == 0; }
  void expect_all(bool corrupt) const {
    if (before_ + 1 != count_ + uint64_t{corrupt}) throw std::runtime_error("an add got lost");
  }

 private:
  fabric::LoopbackNetwork network_{2};
  std::vector<std::unique_ptr<fabric::Fabric>> endpoints_ = fabric::open_all(network_, 2);
  Node own_{*endpoints_[0], 0}, other_{*endpoints_[1], 1};
  uint32_t lane_;
  llcl::Command add_{};
  uint64_t count_ = 0;
  alignas(128) uint64_t word_ = 0;
  alignas(128) uint64_t before_ = 0;
  alignas(128) uint32_t flag_ = 0;
};

template <class Wait>
double median_add_ns(Pair& pair, int adds, const Options& options, Wait wait) {
  std::vector<double> all;
  for (int n = 0; n < adds; ++n) all.push_back(pair.add_ns(wait));
  pair.expect_all(options.corrupt);
  return median_of(all);
}

double offloaded_ns(Pair& pair, int adds, const Options& options) {
  std::atomic<bool> is_over{false};
  std::thread delegatee([&] {
    bind_to(usable_processors().back());
    while (!is_over.load(std::memory_order_relaxed))
      if (pair.own_round()) pair.other_rounds();
  });
  struct Join {
    std::atomic<bool>& is_over;
    std::thread& thread;
    ~Join() {
      is_over.store(true, std::memory_order_relaxed);
      thread.join();
    }
  } join{is_over, delegatee};
  return median_add_ns(pair, adds, options, [] { Machine::relax(); });
}

Result measure_all(const Options& options) {
  Figure latency{"offload_latency",
                 "a fetch-and-add without a network",
                 "ns",
                 {"by a delegatee on another processor", {}},
                 {},
                 Series{"by the requester", {}}};
  Pair pair;
  bind_to(usable_processors().front());
  const int adds = options.quick ? 500 : 20000;
  for (int round = 0; round < options.rounds_or(25, 2); ++round) {
    progress(fmt::format("offload: round {}", round + 1));
    latency.floor->rounds.push_back(median_add_ns(pair, adds, options, [&] {
      if (pair.own_round() && pair.is_under_way()) pair.other_rounds();
    }));
    latency.subject.rounds.push_back(offloaded_ns(pair, adds, options));
  }
  std::vector<double> added;
  for (size_t n = 0; n < latency.subject.rounds.size(); ++n)
    added.push_back(latency.subject.rounds[n] - latency.floor->rounds[n]);
  return {.program = "offload",
          .quick = options.quick,
          .figures = {latency},
          .derived = {{"offload_added_ns", "added by offloading [ns]",
                       "requester and delegatee on processors of their own", median_of(added)}}};
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("The time that another thread adds to a request.", "offload", options);
  return run_program(line, options, argc, argv, [&] { return measure_all(options); });
}
