// SPDX-License-Identifier: BSD-3-Clause
// fleet.h - nodes with their delegatees over a loopback network, and tasks that are only numbers:
// the tests stand for them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "../llcl/own_board.h"
#include "delegatee/delegatee.h"
#include "fabric/loopback.h"
#include "mailbox/lane.h"

namespace nagaya::delegatee {

using llcl::Command;
using llcl::Completion;
using llcl::Op;
using Bytes = std::vector<std::byte>;

// Lane n belongs to task n, as long as no test says otherwise.
class TestLanes : public Lanes {
 public:
  using Lane = mailbox::Lane<Command>;

  TestLanes() : lanes_(std::make_unique<Lane[]>(kLanes)) {}
  uint32_t capacity() const override { return kLanes; }
  size_t drain(Visitor& visitor) override {
    Command commands[32];
    size_t sum = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const size_t wanted = visitor.wanted(lane);
      const size_t count = wanted != 0 ? lanes_[lane].drain(commands, wanted) : 0;
      if (count != 0) visitor.visit(lane, commands, count);
      sum += count;
    }
    return sum;
  }
  void before_sleep() override { sleeps_.fetch_add(1); }  // push below has its fence
  void reclaim(uint32_t task) override { lanes_[task].clear(); }

  Lane& operator[](uint32_t lane) { return lanes_[lane]; }
  // How often the delegatee was about to sleep.
  uint64_t sleeps() const { return sleeps_.load(); }

  static constexpr uint32_t kLanes = 8;

 private:
  std::unique_ptr<Lane[]> lanes_;
  std::atomic<uint64_t> sleeps_{0};
};

// Region numbers count up: the number of one that has ended is no other's.
class TestRegions : public Regions {
 public:
  uint32_t add(uint32_t task, std::byte* base, size_t bytes) {
    const std::lock_guard lock(mutex_);
    regions_[{task, next_}] = {0, base, bytes};
    return next_++;
  }
  void end(uint32_t task, uint32_t region) {
    const std::lock_guard lock(mutex_);
    regions_.erase({task, region});
    endings_.fetch_add(1);
  }
  Memory find(uint32_t task, uint32_t region) override {
    const std::lock_guard lock(mutex_);
    const auto found = regions_.find({task, region});
    if (found != regions_.end()) return found->second;
    return {-EINVAL, nullptr, 0};
  }
  uint64_t endings() const override { return endings_.load(); }
  int accumulate(const nagaya_llcl_accumulation& what) override {
    return llcl::accumulate(*board_, mailbox::Owner::host(), what);
  }
  int compare_swap(const llcl::CompareSwap& what) override {
    return llcl::compare_swap(*board_, mailbox::Owner::host(), what);
  }
  llcl::Board& board() { return *board_; }

 private:
  llcl::OwnBoard board_{1};
  std::mutex mutex_;
  std::map<std::pair<uint32_t, uint32_t>, Memory> regions_;
  uint32_t next_ = 1;
  std::atomic<uint64_t> endings_{0};
};

struct Posted {
  uint32_t handler, source_node, source_task;
  Bytes payload;
};

// Mailboxes of tasks 0 .. 7, each for so many messages.
class TestDelivery : public Delivery {
 public:
  Delivered deliver(const MessagePart& message) override {
    const std::lock_guard lock(mutex_);
    if (message.task >= 8) return Delivered::kRefused;
    std::vector<Posted>& box = boxes_[message.task];
    Bytes& parts = parts_[message.source_node];
    EXPECT_EQ(message.offset, parts.size());
    const bool is_last = message.offset + message.part.size() == message.bytes;
    if (is_last && box.size() >= room_) return Delivered::kFull;
    parts.insert(parts.end(), message.part.begin(), message.part.end());
    if (is_last)
      box.push_back(
          {message.handler, message.source_node, message.source_task, std::exchange(parts, {})});
    return Delivered::kAccepted;
  }
  void abandon(uint32_t source_node) override {
    const std::lock_guard lock(mutex_);
    parts_.erase(source_node);
  }
  bool post_completion(uint32_t task, uint64_t request, int status) override {
    const std::lock_guard lock(mutex_);
    if (completions_[task].size() >= room_) return false;
    completions_[task].push_back({request, status});
    return true;
  }
  void wake(uint32_t task) override {
    if (task < std::size(wakes)) wakes[task].fetch_add(1);  // else a command of no task
    if (at_wake) at_wake();
  }
  void released(uint32_t task) override {
    const std::lock_guard lock(mutex_);
    released_.push_back(task);
  }
  void lost(uint32_t node, int error) override {
    const std::lock_guard lock(mutex_);
    lost_.emplace_back(node, error);
  }

  void set_room(size_t messages) {
    const std::lock_guard lock(mutex_);
    room_ = messages;
  }
  std::vector<Posted> take_messages(uint32_t task) {
    const std::lock_guard lock(mutex_);
    return std::exchange(boxes_[task], {});
  }
  std::vector<std::pair<uint64_t, int>> take_completions(uint32_t task) {
    const std::lock_guard lock(mutex_);
    return std::exchange(completions_[task], {});
  }
  bool has_released(uint32_t task) {
    const std::lock_guard lock(mutex_);
    return std::find(released_.begin(), released_.end(), task) != released_.end();
  }

  std::vector<std::pair<uint32_t, int>> lost_nodes() {
    const std::lock_guard lock(mutex_);
    return lost_;
  }

  std::function<void()> at_wake;     // in the delegatee's thread; set before it runs
  std::atomic<uint64_t> wakes[8]{};  // by task

 private:
  std::mutex mutex_;
  size_t room_ = 1 << 20;
  std::map<uint32_t, Bytes> parts_;  // by node: of a message that is not whole
  std::map<uint32_t, std::vector<Posted>> boxes_;
  std::map<uint32_t, std::vector<std::pair<uint64_t, int>>> completions_;
  std::vector<uint32_t> released_;
  std::vector<std::pair<uint32_t, int>> lost_;  // nodes, and why
};

// So that most sizes of a test are large ones, whatever fits into the fabric's messages.
constexpr size_t kSmallMaxBytes = 4096;

inline Options with_small_max(Options options) {
  if (options.small_max_bytes == Options{}.small_max_bytes)
    options.small_max_bytes = kSmallMaxBytes;
  return options;
}

// Of a job of the tests: the same at every node.
inline std::vector<Secret> secrets_of(size_t nodes) {
  std::vector<Secret> secrets(nodes);
  for (size_t node = 0; node < nodes; ++node) secrets[node].fill(static_cast<unsigned char>(node));
  return secrets;
}

struct TestNode {
  TestNode(std::unique_ptr<fabric::Fabric> endpoint, Node self, size_t nodes,
           const Options& options)
      : fabric(std::move(endpoint)),
        delegatee({*fabric, self, secrets_of(nodes), lanes, regions, delivery, bell, load},
                  with_small_max(options)) {}
  ~TestNode() { stop(); }

  void start() {
    thread = std::thread([this] { delegatee.run(); });
  }
  void stop() {
    delegatee.stop();
    if (thread.joinable()) thread.join();
  }

  // A command of task `lane`.
  void push(uint32_t lane, const Command& command) { push(lane, command, lane); }
  void push(uint32_t lane, Command command, uint32_t requester) {
    command.requester = static_cast<uint16_t>(requester);
    while (!lanes[lane].push(command)) std::this_thread::yield();
    bell.ring();
  }

  TestLanes lanes;
  TestRegions regions;
  TestDelivery delivery;
  mailbox::ThreadBell bell{};
  mailbox::Load load{{0}, 2};
  std::unique_ptr<fabric::Fabric> fabric;
  Delegatee delegatee;
  std::thread thread;
};

using Endpoints = std::vector<std::unique_ptr<fabric::Fabric>>;

struct Fleet {
  explicit Fleet(unsigned nodes, const Options& options = {}, const fabric::FaultPlan& plan = {})
      : network(nodes, plan) {
    add(fabric::open_all(network, nodes), options);
  }
  // Over endpoints that are connected; `network` is not theirs.
  Fleet(Endpoints endpoints, const Options& options) : network(1) {
    add(std::move(endpoints), options);
  }
  void add(Endpoints endpoints, const Options& options) {
    for (Node self = 0; self < endpoints.size(); ++self)
      all.push_back(
          std::make_unique<TestNode>(std::move(endpoints[self]), self, endpoints.size(), options));
  }
  void start() {
    for (auto& node : all) node->start();
  }
  // In place of start(): every delegatee looks once.
  void round() {
    for (auto& node : all) node->delegatee.round();
  }
  TestNode& operator[](size_t node) { return *all[node]; }

  fabric::LoopbackNetwork network;
  std::vector<std::unique_ptr<TestNode>> all;
};

// Whether it became true within the time, which is far more than it takes.
template <class Predicate>
bool soon(Predicate predicate, int seconds = 20) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// A flag and the wait for it: 0, or the error; 1: it never came.
class Flag {
 public:
  uint64_t address() { return reinterpret_cast<uint64_t>(&word_); }
  int32_t now() {
    return static_cast<int32_t>(std::atomic_ref(word_).load(std::memory_order_acquire));
  }
  int wait(int seconds = 20) {
    if (!soon([&] { return now() != 0; }, seconds)) return 1;
    return now() == 1 ? 0 : now();
  }

 private:
  uint32_t word_ = 0;
};

// ---- commands ----------------------------------------------------------------------------------

struct Place {
  uint32_t node, task, region;
  uint64_t offset = 0;
};

inline Command command_to(const Place& place, Op op) {
  Command command{};
  command.op = op;
  command.node = place.node;
  command.task = place.task;
  command.region = place.region;
  command.offset = place.offset;
  return command;
}

inline Command transfer(Op op, const Place& place, void* local, size_t bytes) {
  Command command = command_to(place, op);
  command.data.block = {reinterpret_cast<uint64_t>(local), bytes, 0, 0};
  return command;
}

inline Command with_payload(Op op, const Place& place, const void* payload, size_t bytes) {
  Command command = command_to(place, op);
  command.inline_bytes = static_cast<uint8_t>(bytes);
  std::memcpy(command.data.payload, payload, bytes);
  return command;
}

inline Command atomic(llcl::Atomic operation, llcl::Type type, const Place& place, void* before,
                      uint64_t operand, uint64_t expected = 0) {
  Command command = command_to(place, Op::kAtomic);
  command.atomic = operation;
  command.data.word = {reinterpret_cast<uint64_t>(before), static_cast<uint64_t>(type), operand,
                       expected};
  return command;
}

inline Command put_notify(const Place& place, const void* local, size_t bytes,
                          const Place& counter) {
  Command command = transfer(Op::kPutNotify, place, const_cast<void*>(local), bytes);
  command.data.block.counter_offset = counter.offset;
  command.data.block.counter_region = counter.region;
  return command;
}

inline Command of_pieces(Op op, const Place& place, std::span<const llcl::Piece> pieces) {
  Command command = command_to(place, op);
  command.data.pieces = {reinterpret_cast<uint64_t>(pieces.data()), pieces.size()};
  return command;
}

inline Command accumulate_of(const Place& place, const nagaya_llcl_accumulation& what) {
  Command command = command_to(place, Op::kAccumulate);
  command.data.elements = Command::Elements::of(what);
  return command;
}

inline Command compare_swap_of(const Place& place, size_t bytes, uint64_t expected,
                               uint64_t desired, void* before) {
  Command command = command_to(place, Op::kCompareSwap);
  command.data.word = {reinterpret_cast<uint64_t>(before), bytes, desired, expected};
  return command;
}

// Options by which batches are short and credit is scarce. draw(end): a random number below `end`.
template <class Draw>
Options drawn_options(Draw draw) {
  return {.batch_bytes = 256 + draw(8000),
          .credit_commands = 1 + draw(20),
          .credit_bytes = 1 + draw(40000)};
}

// A network that refuses, delays and has little room.
template <class Draw>
fabric::FaultPlan drawn_faults(uint64_t seed, Draw draw) {
  return {
      .seed = seed, .refuse_percent = draw(20), .delay_polls_max = draw(6), .room = 4 + draw(20)};
}

inline Command flagged(Command command, Flag& flag) {
  command.completion_kind = Completion::kFlag;
  command.completion = flag.address();
  return command;
}

inline Command counted(Command command, uint64_t& counter) {
  command.completion_kind = Completion::kCounter;
  command.completion = reinterpret_cast<uint64_t>(&counter);
  return command;
}

// Of a counter: how many completions, and whether one of them failed.
inline std::pair<uint64_t, bool> counts(uint64_t& counter) {
  const uint64_t value = std::atomic_ref(counter).load(std::memory_order_acquire);
  return {value & ~NAGAYA_COUNTER_FAILED, (value & NAGAYA_COUNTER_FAILED) != 0};
}

inline Bytes pattern(size_t bytes, unsigned seed) {
  Bytes result(bytes);
  for (size_t n = 0; n < bytes; ++n) result[n] = static_cast<std::byte>(n * 7 + n / 251 + seed);
  return result;
}

}  // namespace nagaya::delegatee
