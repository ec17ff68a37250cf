// SPDX-License-Identifier: BSD-3-Clause
// batch_target.h - a delegatee over the board of a real node hears any bytes: first as a
// stranger's, then, as far as they are batches, as those of node 1, which is of its job. Meanwhile
// commands of a task wait for node 1's answers. The task then reads what has come for it. The
// sanitizers and the guards around every memory see what must not be touched.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "delegatee/board_node.h"
#include "delegatee/delegatee.h"
#include "fabric/loopback.h"
#include "llcl/board/port_cell.h"

namespace nagaya::fuzz {

using namespace nagaya::delegatee;

// 64 bytes between guards.
struct GuardedMemory {
  static constexpr size_t kBytes = 64;

  std::byte* data() { return memory + kBytes; }
  bool is_guarded() const {
    const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
    return std::all_of(memory, memory + kBytes, is_zero) &&
           std::all_of(memory + 2 * kBytes, memory + sizeof memory, is_zero);
  }

 private:
  alignas(64) std::byte memory[3 * kBytes] = {};
};

// Task 0 has a region and commands under way, the mailboxes of task 1 are full, task 2 takes no
// part.
class HearingNode {
 public:
  HearingNode()
      : memory_(llcl::create_board(space_with(3))),
        board_(*static_cast<llcl::Board*>(space_.upper_floors)),
        node_(board_),
        endpoints_(fabric::open_all(network_, 2)),
        proofs_(kSecrets, 1, false),
        delegatee_({*endpoints_[0], 0, kSecrets, node_, node_, node_, board_.bells[0], board_.load},
                   {.slots = 16}) {
    board_.nodes = 2;
    for (uint32_t task = 0; task < 2; ++task)
      board_.attached[task] = mailbox::Owner::task(task, 1).bits;
    board_.regions->add(mailbox::Owner::task(0, 1), region_.data(), GuardedMemory::kBytes);
    const llcl::ActiveMessage any{};
    for (mailbox::Mailbox* const boxes : {board_.mailboxes, board_.ports})
      while (boxes[1].post(mailbox::Owner::host(), 1, &any, sizeof any) == 0) continue;
    ask_everything();
  }

  void hear(std::vector<std::byte> message, bool as_its_own) {
    if (message.size() > endpoints_[1]->message_max_bytes()) return;
    if (as_its_own) proofs_.sign(0, message);
    endpoints_[1]->try_send(0, message.data(), message.size(), 1);
    delegatee_.round();
    if (as_its_own) proofs_.sent(0);
    fabric::Event events[16];
    endpoints_[1]->poll(events);
  }
  uint64_t refused() const { return delegatee_.refused(); }

  // As task 0 does: every body is read, and given back.
  void read_messages() {
    while (const mailbox::Message message = board_.mailboxes[0].take()) {
      llcl::ActiveMessage active;
      std::memcpy(&active, message.payload, sizeof active);
      if (active.bytes <= llcl::kInlineBodyMaxBytes) continue;
      active.longer.done->store(1 + 0 * sum_of(active.longer.address, active.bytes),
                                std::memory_order_release);
    }
    while (const mailbox::Message message = board_.ports[0].take()) {
      llcl::Incoming incoming;
      incoming.copy_from(message);
      static_cast<void>(sum_of(incoming.body(), incoming.bytes()));
      incoming.give_back();
    }
    node_.post_late();
  }
  void end_task() {
    node_.note_dead(0, llcl::reclaim(board_, 0));
    delegatee_.abandon(0);
    delegatee_.round();
  }
  bool is_guarded() const {
    return region_.is_guarded() && local_.is_guarded() && flags_.is_guarded();
  }

 private:
  static constexpr Secret kSecrets[2] = {};

  static uint32_t sum_of(const std::byte* body, uint64_t bytes) {
    volatile uint32_t sum = 0;  // each byte is read
    for (uint64_t n = 0; n < bytes; ++n) sum = sum + std::to_integer<uint32_t>(body[n]);
    return sum;
  }

  task::SpaceHeader& space_with(uint32_t capacity) {
    space_.capacity = capacity;
    return space_;
  }

  // A command of every kind to node 1, in the slots 0, 1, ...
  void ask_everything() {
    const uint32_t lane = board_.lanes->claim(mailbox::Owner::task(0, 1));
    const auto flag = reinterpret_cast<uint64_t>(flags_.data());
    const auto local = reinterpret_cast<uint64_t>(local_.data());
    const auto push = [&](llcl::Op op, const llcl::Command::Data& data) {
      llcl::Command command{};
      command.op = op;
      command.node = 1;
      command.region = 1;
      command.completion_kind = llcl::Completion::kFlag;
      command.completion = flag + 4 * asked_++;
      command.data = data;
      board_.lanes->push(lane, [&](llcl::Command& place) { place = command; });
    };
    // `bytes`: of a block; the type of a word; the number of pieces.
    const auto ask = [&](llcl::Op op, uint64_t bytes, uint64_t from) {
      push(op, {.block = {from, bytes, 0, 0}});
    };
    ask(llcl::Op::kGet, 64, local);
    ask(llcl::Op::kGet, large_.size(), reinterpret_cast<uint64_t>(large_.data()));
    ask(llcl::Op::kPut, large_.size(), reinterpret_cast<uint64_t>(large_.data()));
    ask(llcl::Op::kAtomic, static_cast<uint64_t>(llcl::Type::kUint64), local);
    ask(llcl::Op::kActiveMessage, large_.size(), reinterpret_cast<uint64_t>(large_.data()));
    piece_ = {local, 0, 8, 8, 8, 16};
    ask(llcl::Op::kGetPieces, 1, reinterpret_cast<uint64_t>(&piece_));
    ask(llcl::Op::kPutPieces, 1, reinterpret_cast<uint64_t>(&piece_));
    push(llcl::Op::kAccumulate,
         {.elements = {local, local, 0, 8, NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM}});
    push(llcl::Op::kCompareSwap, {.word = {local, 4, 1, 2}});
    ask(llcl::Op::kAtomicBehind, static_cast<uint64_t>(llcl::Type::kUint64), local);
    ask(llcl::Op::kFence, 0, 0);
    delegatee_.round();
  }

  task::SpaceHeader space_{};
  base::Mapping memory_;
  llcl::Board& board_;
  GuardedMemory region_, local_, flags_;
  std::vector<std::byte> large_ = std::vector<std::byte>(100000);
  llcl::Piece piece_{};
  uint64_t asked_ = 0;
  BoardNode node_;
  fabric::LoopbackNetwork network_{2};
  std::vector<std::unique_ptr<fabric::Fabric>> endpoints_;
  Proofs proofs_;
  Delegatee delegatee_;
};

// One batch, or several, one behind the other.
inline void hear_batch(const uint8_t* data, size_t bytes) {
  HearingNode node;
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  node.hear({begin, begin + bytes}, false);
  if (node.refused() != 1) std::abort();
  for (size_t at = 0; bytes - at >= sizeof(Prologue);) {
    Prologue prologue;
    std::memcpy(&prologue, data + at, sizeof prologue);
    const bool is_one_of_several =
        prologue.bytes >= sizeof prologue && prologue.bytes <= bytes - at;
    const size_t next = at + (is_one_of_several ? prologue.bytes : bytes - at);
    node.hear({begin + at, begin + next}, true);
    at = next;
    if (at % 16 == 0) node.read_messages();
  }
  node.read_messages();
  node.end_task();
  if (!node.is_guarded()) std::abort();
}

}  // namespace nagaya::fuzz
