// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/requester.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "base/catch_errors.h"
#include "llcl/board/apply_atomic.h"
#include "reduction/reductions.h"

namespace nagaya::delegatee {

using llcl::Command;
using llcl::Completion;
using llcl::Op;

Requester::Requester(fabric::Fabric& fabric, Outbox& outbox, Lanes& lanes, Delivery& delivery,
                     size_t nodes, const Options& options)
    : fabric_(fabric),
      outbox_(outbox),
      lanes_(lanes),
      delivery_(delivery),
      options_(options),
      small_max_bytes_(
          std::min(options.small_max_bytes, outbox.payload_max_bytes() - sizeof(Counter))),
      part_max_bytes_(outbox.payload_max_bytes()),
      slots_(options.slots),
      targets_(nodes),
      portion_(outbox.payload_max_bytes()),
      held_(lanes.capacity()),
      unposted_of_lane_(lanes.capacity()) {
  lanes_with_held_.reserve(lanes.capacity());
  full_.reserve(lanes.capacity());
}

// ---- lanes -------------------------------------------------------------------------------------

size_t Requester::drain() {
  std::erase_if(lanes_with_held_, [&](uint32_t lane) { return resume(lane); });
  return lanes_.drain(*this);
}

size_t Requester::wanted(uint32_t lane) {
  return held_[lane].empty() ? kDrainMax : 0;
}

void Requester::visit(uint32_t lane, const Command* commands, size_t count) {
  size_t accepted = 0;
  while (accepted < count && accept(lane, commands[accepted])) ++accepted;
  if (accepted == count) return;
  Fifo<Command>& held = held_[lane];
  for (; accepted < count; ++accepted) held.push(commands[accepted]);
  lanes_with_held_.push_back(lane);
}

// Accepts held commands of the lane. True if none is held any more.
bool Requester::resume(uint32_t lane) {
  Fifo<Command>& held = held_[lane];
  while (!held.empty() && accept(lane, held.front())) held.pop();
  return held.empty();
}

// ---- accepting ---------------------------------------------------------------------------------

// Puts a command into a slot. False: not now; a limit is reached.
bool Requester::accept(uint32_t lane, const Command& command) {
  const bool has_target = command.node < targets_.size();
  const uint32_t most = options_.credit_commands + options_.pending_max;
  const uint32_t unposted = unposted_of_lane_[lane];
  const bool is_slow = unposted >= most || (unposted != 0 && unposted_count_ >= slots_.count() / 2);
  if (slots_.empty() || is_slow) return false;
  if (has_target && targets_[command.node].count - targets_[command.node].unposted >= most)
    return false;
  const uint32_t index = slots_.acquire();
  Slot& slot = slots_[index];
  slot.command = command;
  slot.lane = lane;
  slot.task = command.requester;
  slot.is_large = command.op != Op::kActiveMessage && command.bytes() > small_max_bytes_;
  if (has_target)
    start(index);
  else
    finish(index, -EINVAL);
  return true;
}

namespace {

// Whether the target may read the operands from the task's memory: they and the elements are
// contiguous, have no gaps, and no values from before are asked for.
bool can_lend(const Command& accumulate) {
  const Command::Elements& what = accumulate.data.elements;
  return what.operation != NAGAYA_REDUCE_NO_OP && what.result == 0 && what.runs == 0 &&
         elements_of(accumulate).copy == nullptr;
}

bool elements_are_possible(const Command& accumulate) {
  const Command::Elements& what = accumulate.data.elements;
  return reduction::is_defined(what.type, what.operation) &&
         (what.count == 0 || what.origin != 0 || what.operation == NAGAYA_REDUCE_NO_OP);
}

}  // namespace

int Requester::misuse_of(const Command& command) const {
  const uint64_t bytes = command.bytes();
  if (size_t(command.op) >= llcl::kOps || command.inline_bytes > llcl::kInlineMaxBytes)
    return -EINVAL;
  if (command.inline_bytes != 0 && !command.may_be_inline()) return -EINVAL;
  if (command.is_atomic()) {
    const bool is_type = command.data.word.type <= static_cast<uint64_t>(llcl::Type::kDouble);
    return is_type && llcl::is_defined(command.atomic, command.type()) ? 0 : -EINVAL;
  }
  if (command.op == Op::kCompareSwap) {
    const uint64_t word_bytes = command.data.word.type;
    return std::has_single_bit(word_bytes) && word_bytes <= sizeof(uint64_t) ? 0 : -EINVAL;
  }
  if (command.has_pieces()) return command.pieces_are_possible() ? 0 : -EINVAL;
  if (command.op == Op::kAccumulate) return elements_are_possible(command) ? 0 : -EINVAL;
  if (command.op == Op::kPutNotify && command.data.block.counter_region > UINT32_MAX)
    return -EINVAL;
  if (command.op == Op::kActiveMessage && bytes > kMessageMaxBytes) return -EMSGSIZE;
  if (bytes > UINT64_MAX - command.offset) return -EINVAL;
  if (bytes != 0 && command.inline_bytes == 0 && command.data.block.local == 0) return -EINVAL;
  return 0;
}

void Requester::start(uint32_t index) {
  Slot& slot = slots_[index];
  const Command& command = slot.command;
  int error = misuse_of(command);
  if (error == 0) error = targets_[command.node].failed;
  if (error == 0) {
    std::atomic<uint64_t>& accepted = accepted_[size_t(command.op)];
    accepted.store(accepted.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  enlist(index);  // even if it fails: fences wait for its completion
  if (command.op == Op::kFence) return start_fence(index, error);
  if (error != 0) return finish(index, error);
  if (command.op == Op::kAtomicBehind) return start_behind(index);
  if (command.op == Op::kAccumulate) lend_operands(slot);
  slot.may_come_late = command.keeps_order() && targets_[command.node].lending != 0;
  if (!slot.is_large) return queue(index, State::kPending);
  slot.uses_region = true;
  const fabric::Region* known = regions_.acquire(RemoteRegionCache::name_of(command));
  if (known == nullptr) return queue(index, State::kPending);
  slot.remote = *known;
  queue(index, State::kReady);
}

void Requester::lend_operands(Slot& slot) {
  const uint64_t bytes = target_of(slot.command).bytes, offset = slot.command.offset;
  if (!can_lend(slot.command) || bytes < options_.lent_min_bytes || bytes > UINT64_MAX - offset)
    return;
  const int error = base::catch_errors([&] {
    auto* const origin = reinterpret_cast<std::byte*>(slot.command.data.elements.origin);
    slot.remote = fabric_.register_memory(origin, bytes);
    return 0;
  });
  slot.lends = error == 0;  // else they are copied into batches
  if (slot.lends) ++targets_[slot.command.node].lending;
}

void Requester::queue(uint32_t index, State state) {
  TargetNode& target = targets_[slots_[index].command.node];
  slots_[index].state = state;
  if (state == State::kPending && slots_[index].command.keeps_order()) ++target.ordered;
  if (state == State::kPending && slots_[index].command.op == Op::kAtomicBehind) ++target.behind;
  (state == State::kReady ? target.ready : target.pending).push(slots_, index);
}

// ---- a node's list, fences ---------------------------------------------------------------------

void Requester::enlist(uint32_t index) {
  Slot& slot = slots_[index];
  TargetNode& target = targets_[slot.command.node];
  slot.is_listed = true;
  slot.before = target.last;
  slot.after = kNone;
  (target.last == kNone ? target.first : slots_[target.last].after) = index;
  target.last = index;
  ++target.count;
  if (!std::exchange(target.is_awaited, true)) awaited_.push_back(slot.command.node);
}

void Requester::unlist(uint32_t index) {
  Slot& slot = slots_[index];
  if (!std::exchange(slot.is_listed, false)) return;
  TargetNode& target = targets_[slot.command.node];
  (slot.before == kNone ? target.first : slots_[slot.before].after) = slot.after;
  (slot.after == kNone ? target.last : slots_[slot.after].before) = slot.before;
  --target.count;
  if (slot.command.op == Op::kFence)
    --target.fences;
  else if (target.fences != 0)
    settle_fences(slot);
}

namespace {

// Whether a later record may take effect first: the fabric moves the data, or the target may read
// them only when it has room for the answer, or has to read the operands first.
bool may_be_overtaken(const Slot& slot) {
  return slot.uses_region || slot.may_come_late || slot.command.op == Op::kGet ||
         slot.command.op == Op::kGetPieces;
}

}  // namespace

void Requester::start_fence(uint32_t index, int error) {
  Slot& fence = slots_[index];
  fence.state = State::kFence;
  fence.status = error;
  ++targets_[fence.command.node].fences;
  for (uint32_t n = fence.before; n != kNone; n = slots_[n].before)
    if (slots_[n].lane == fence.lane && slots_[n].command.op != Op::kFence) ++fence.fence_waits;
  if (fence.fence_waits == 0) finish(index, error);
}

// Waits for the earlier commands of the lane that it might overtake. All others leave before it,
// and the target carries them out in their order.
void Requester::start_behind(uint32_t index) {
  Slot& slot = slots_[index];
  for (uint32_t n = slot.before; n != kNone; n = slots_[n].before)
    if (slots_[n].lane == slot.lane && may_be_overtaken(slots_[n])) ++slot.fence_waits;
  if (slot.fence_waits == 0) return queue(index, State::kPending);
  slot.state = State::kFence;
  ++targets_[slot.command.node].fences;
}

// `settled` has left the list: the fences behind it wait for one command less.
void Requester::settle_fences(const Slot& settled) {
  for (uint32_t n = settled.after, after; n != kNone; n = after) {
    Slot& slot = slots_[n];
    after = slot.after;
    const bool has_waited = slot.state == State::kFence && slot.lane == settled.lane &&
                            (slot.command.op == Op::kFence || may_be_overtaken(settled));
    if (has_waited && --slot.fence_waits == 0) end_wait(n);
  }
}

void Requester::end_wait(uint32_t index) {
  Slot& slot = slots_[index];
  if (slot.command.op == Op::kFence) return finish(index, slot.status);
  --targets_[slot.command.node].fences;
  if (slot.status != 0) return finish(index, slot.status);
  queue(index, State::kPending);
}

// ---- moving on ---------------------------------------------------------------------------------

bool Requester::advance() {
  bool moved = false;
  was_refused_ = false;
  std::erase_if(awaited_, [&](Node node) {
    moved |= advance(node);
    targets_[node].is_awaited = targets_[node].count != 0;
    return !targets_[node].is_awaited;
  });
  moved |= post_unposted();
  flush_counter();
  return moved;
}

// Posts completions that had no room. Completions for a task with a full mailbox stay, in order;
// completions for other tasks pass them.
bool Requester::post_unposted() {
  bool moved = false;
  full_.clear();
  for (SlotQueue all = std::exchange(unposted_, {}); !all.empty();) {
    const uint32_t index = all.front();
    all.pop(slots_);
    const Slot& slot = slots_[index];
    const bool is_full = std::find(full_.begin(), full_.end(), slot.task) != full_.end();
    if (!is_full && post(slot, slot.status)) {
      count_unposted(slot, -1);
      release_slot(index);
      moved = true;
    } else {
      if (!is_full) full_.push_back(slot.task);
      unposted_.push(slots_, index);
    }
  }
  return moved;
}

bool Requester::advance(Node node) {
  TargetNode& target = targets_[node];
  bool moved = false;
  // The limit also bounds commands of many empty pieces, which move on without sending anything.
  for (int n = 0; n < kSendsMax && !target.pending.empty() && send_first(target); ++n) moved = true;
  const auto has_room = [&] {
    return target.transferring < kTransfersMax && target.transferring_bytes < kTransferringMaxBytes;
  };
  while (!target.ready.empty() && has_room() && transfer_first(target)) moved = true;
  return moved;
}

// ---- the end of a command ----------------------------------------------------------------------

void Requester::finish(uint32_t index, int status) {
  Slot& slot = slots_[index];
  if (post(slot, status)) return release_slot(index);
  slot.state = State::kUnposted;
  slot.status = status;
  unposted_.push(slots_, index);
  count_unposted(slot, 1);
}

void Requester::count_unposted(const Slot& slot, int change) {
  unposted_count_ += static_cast<uint32_t>(change);
  unposted_of_lane_[slot.lane] += static_cast<uint32_t>(change);
  if (slot.is_listed) targets_[slot.command.node].unposted += static_cast<uint32_t>(change);
}

// Frees a slot whose completion was posted: only now may a fence behind it complete.
void Requester::release_slot(uint32_t index) {
  unlist(index);
  if (slots_[index].uses_region)
    regions_.release(RemoteRegionCache::name_of(slots_[index].command));
  if (std::exchange(slots_[index].lends, false)) {
    fabric_.deregister(slots_[index].remote);
    --targets_[slots_[index].command.node].lending;
  }
  if (slots_[index].in_fabric)
    slots_[index].state = State::kLost;
  else
    slots_.release(index);
}

// Posts the command's one completion. False: the mailbox is full.
bool Requester::post(const Slot& slot, int status) {
  const uint64_t address = slot.command.completion;
  if (slot.is_orphan || address == 0) return true;
  const Completion kind = slot.command.completion_kind;
  const bool joins =
      kind == Completion::kCounter && address == completed_.counter && slot.task == completed_.task;
  if (!joins) flush_counter();  // keeps the order of completions
  switch (kind) {
    case Completion::kFlag:
      llcl::complete_flag(reinterpret_cast<uint32_t*>(address), status);
      break;
    case Completion::kCounter:
      completed_.counter = address;
      ++completed_.count;
      completed_.has_failed |= status != 0;
      completed_.task = slot.task;
      return true;
    case Completion::kCallback:
      if (!delivery_.post_completion(slot.task, address, status)) return false;
      break;
    default:
      return true;
  }
  delivery_.wake(slot.task);
  return true;
}

void Requester::flush_counter() {
  if (completed_.counter == 0) return;
  const Completed done = std::exchange(completed_, {});
  llcl::count_completions(reinterpret_cast<uint64_t*>(done.counter), done.count, done.has_failed);
  delivery_.wake(done.task);
}

// ---- failures ----------------------------------------------------------------------------------

void Requester::fail(Node node, int error) {
  TargetNode& target = targets_[node];
  target.failed = error;
  target.pending.clear();
  target.ordered = 0;
  target.behind = 0;
  target.ready.clear();
  target.piece_portions.clear();
  target.element_portions.clear();
  target.sent = 0;
  target.sent_bytes = 0;
  // Fences fail, too, instead of succeeding because no command is left before them; they still
  // complete after the commands that they wait for.
  for (uint32_t n = target.first; n != kNone; n = slots_[n].after)
    if (slots_[n].state == State::kFence) slots_[n].status = error;
  // From the last to the first: a command that finishes may also finish fences behind it.
  for (uint32_t n = target.last, before; n != kNone; n = before) {
    before = slots_[n].before;
    if (slots_[n].state != State::kUnposted && slots_[n].state != State::kFence) finish(n, error);
  }
  regions_.forget(node);
}

void Requester::abandon(uint32_t task) {
  flush_counter();  // while the task's memory is there
  // Commands that wait in a lane are of the lane's owner. Drained commands may be of a task that
  // had the lane before.
  for (const uint32_t lane : lanes_with_held_) {
    const auto is_its = [&](const Command& command) { return command.requester == task; };
    held_[lane].erase_if(is_its);
  }
  lanes_.reclaim(task);
  for (uint32_t n = 0; n < slots_.count(); ++n)
    if (slots_[n].state != State::kFree && slots_[n].task == task) slots_[n].is_orphan = true;
}

bool Requester::holds_memory_of(uint32_t task) {
  for (uint32_t n = 0; n < slots_.count(); ++n)
    if (slots_[n].holds_memory() && slots_[n].is_orphan && slots_[n].task == task) return true;
  return false;
}

}  // namespace nagaya::delegatee
