// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/schedule.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "coll/algorithms.h"
#include "coll/pending_collectives.h"
#include "layout/blocks.h"
#include "layout/bytes.h"

namespace nagaya::coll::hierarchy {

// Takes numbers when the schedule exists: if memory for it is missing, no number is lost. (A member
// that lacks memory later leaves out its fan-out, and its node's later ones wait for it: coll.h.)
void Schedule::start(MultiNodeTeam& team, nagaya_collective& what,
                     const MultiNodeAlgorithm& algorithm) {
  Schedule* const schedule = algorithm.make(team, what, algorithm);
  schedule->number_ = team.new_number();
  // Fan-out starts at different times at different members. Its number is taken here, so that all
  // members run their fan-outs in the order of the collectives' starts.
  if (algorithm.fans_out && team.fan_out().group().is_open())
    schedule->fan_out_.number = team.fan_out().new_number();
  what.is_complete = 0;
  what.error = 0;
  what.operation = schedule;
  schedule->run_stages();
}

uint32_t Schedule::leader_of(uint32_t node) const {
  if (algorithm_.has_root && nodes().node_of(what_.root) == node) return what_.root;
  return nodes().ranks_of(node)[0];
}

// ---- steps --------------------------------------------------------------------------------------

void Schedule::prepare(nagaya_send& send, uint32_t to, const layout::Buffer& from) const {
  send.to = team_.process(to);
  send.envelope = team_.envelope(rank(), number_);
  send.data = from.data();
  send.bytes = from.bytes();
  send.runs = from.runs_or_null();
}

void Schedule::prepare(nagaya_receive& receive, uint32_t from, const layout::Buffer& to) const {
  receive.wanted = team_.envelope(from, number_);
  receive.from = team_.process(from);
  receive.buffer = to.data();
  receive.capacity = to.bytes();
  receive.runs = to.runs_or_null();
}

void Schedule::send(uint32_t to, const layout::Buffer& from) {
  SendStep& step = sends_.emplace_back();
  step.schedule = this;
  prepare(step.send, to, from);
  step.send.complete = [](nagaya_send* send) {
    const SendStep* const step = reinterpret_cast<SendStep*>(send);
    step->schedule->finish_step(send->error);
  };
}

void Schedule::receive(uint32_t from, const layout::Buffer& to) {
  ReceiveStep& step = receives_.emplace_back();
  step.schedule = this;
  prepare(step.receive, from, to);
  step.receive.complete = [](nagaya_receive* receive) {
    Schedule* const schedule = reinterpret_cast<ReceiveStep*>(receive)->schedule;
    const bool is_short = schedule->what().is_exact != 0 && receive->bytes < receive->capacity;
    schedule->finish_step(receive->error == 0 && is_short ? -ENODATA : receive->error);
  };
}

void Schedule::send_when_ready(uint32_t to, const layout::Buffer& from) {
  DeferredSend& deferred = deferred_sends_.emplace_back();
  deferred.schedule = this;
  prepare(deferred.ready, to, {nullptr, 0});
  prepare(deferred.send, to, from);
  deferred.ready.complete = [](nagaya_receive* ready) {
    DeferredSend& deferred = *reinterpret_cast<DeferredSend*>(ready);
    Schedule* const schedule = deferred.schedule;
    if (deferred.leave_awaited(DeferredSend::State::kReading)) schedule->begin(deferred);
    schedule->finish_step(ready->error);
  };
  deferred.send.complete = [](nagaya_send* send) {
    DeferredSend& deferred = *reinterpret_cast<DeferredSend*>(reinterpret_cast<std::byte*>(send) -
                                                              offsetof(DeferredSend, send));
    const int error = send->error;
    // Release: pairs with is(). The caller's memory was read before.
    deferred.state.store(DeferredSend::State::kComplete, std::memory_order_release);
    deferred.schedule->finish_step(error);
  };
}

void Schedule::begin(DeferredSend& deferred) {
  const int error = nagaya_match_send(&deferred.send);
  if (error == 0) return;
  deferred.send.error = error;
  deferred.send.complete(&deferred.send);
}

void Schedule::set_node_collective(NodeCollective& step, const nagaya_collective& what) {
  step.what = what;
  step.what.complete = [](nagaya_collective* what) {
    const NodeCollective* const step = reinterpret_cast<NodeCollective*>(what);
    step->schedule->finish_step(what->error);
  };
  step.schedule = this;
}

nagaya_collective Schedule::new_node_collective(nagaya_collective_kind kind, bool stores_data) {
  nagaya_collective collective = {};
  collective.kind = kind;
  collective.root = nodes().index_of(leader_of(node()));
  if (!stores_data) return collective;
  collective.store = [](void* schedule, uint32_t index, const void* data, size_t bytes) {
    static_cast<Schedule*>(schedule)->store_data(index, data, bytes);
  };
  collective.store_context = this;
  return collective;
}

void Schedule::fan_in(const nagaya_collective& what) {
  if (is_alone_on_node()) return;
  fan_in_.number = team_.fan_in().new_number();
  set_node_collective(fan_in_, what);
}

void Schedule::fan_out(const nagaya_collective& what) {
  if (!is_alone_on_node()) set_node_collective(fan_out_, what);
}

void Schedule::fan_out_data(nagaya_collective_kind kind, std::byte* data, size_t bytes) {
  nagaya_collective out = new_node_collective(kind, true);
  if (is_leader()) out.send = layout::equal_blocks(data, bytes);
  out.receive = layout::equal_blocks(nullptr, bytes);
  fan_out(out);
}

// ---- a block that its root wants back -----------------------------------------------------------

// The root of a BCAST adds steps only in its last stage. So if no step is pending, the schedule
// ends, and is not held.
Schedule::StepGuard Schedule::hold(MultiNodeTeam& team, nagaya_collective& what) {
  const auto lock = team.fan_out().locked();
  auto* const schedule = static_cast<Schedule*>(what.operation);
  if (schedule == nullptr) return nullptr;
  uint32_t pending = schedule->pending_.load(std::memory_order_acquire);
  while (pending != 0 &&
         !schedule->pending_.compare_exchange_weak(pending, pending + 1, std::memory_order_acquire))
    continue;
  return StepGuard(pending == 0 ? nullptr : schedule);
}

// Starts the sends without the lock: the completion of a send that is complete at once takes it.
bool Schedule::detach() {
  if (copy_ != nullptr) return true;  // the block was short, and copied at once
  {
    const auto lock = team_.fan_out().locked();
    Operation* const node_operation = fan_out_operation();
    const bool is_own_node_awaited = node_operation != nullptr && !node_operation->have_all_begun();
    const bool is_other_node_awaited = std::any_of(
        deferred_sends_.begin(), deferred_sends_.end(),
        [](DeferredSend& deferred) { return deferred.is(DeferredSend::State::kAwaited); });
    if (!is_own_node_awaited && !is_other_node_awaited) return false;
    copy_block();
    if (is_own_node_awaited) node_operation->detach(copy_);
  }
  for (DeferredSend& deferred : deferred_sends_) {
    if (!deferred.leave_awaited(DeferredSend::State::kCopied)) continue;
    deferred.send.data = copy_;
    deferred.send.runs = nullptr;
    begin(deferred);
  }
  return true;
}

bool Schedule::has_no_readers() {
  const auto lock = team_.fan_out().locked();
  const Operation* const node_operation = fan_out_operation();
  return (node_operation == nullptr || node_operation->has_no_readers()) &&
         std::none_of(deferred_sends_.begin(), deferred_sends_.end(), [](DeferredSend& deferred) {
           return deferred.is(DeferredSend::State::kReading);
         });
}

// ---- memory and blocks --------------------------------------------------------------------------

std::byte* Schedule::new_scratch(size_t bytes) {
  scratch_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  return scratch_.back().get();
}

std::byte* Schedule::copy_block() {
  const layout::Buffer block = layout::block_of(what_.send, 0);
  std::byte* const copy = new_scratch(block.bytes());
  layout::gather(block, copy, block.bytes());
  return copy_ = copy;
}

nagaya_blocks Schedule::own_blocks(const nagaya_blocks& all) {
  const size_t count = own_ranks().size();
  auto* const sizes = reinterpret_cast<size_t*>(new_scratch(count * sizeof(size_t)));
  auto* const offsets = reinterpret_cast<ptrdiff_t*>(new_scratch(count * sizeof(ptrdiff_t)));
  for (size_t n = 0; n < count; ++n) {
    const layout::Buffer block = layout::block_of(all, own_ranks()[n]);
    sizes[n] = block.bytes();
    offsets[n] = block.data() - static_cast<std::byte*>(all.base);
  }
  return layout::listed_blocks(all.base, sizes, offsets);
}

void Schedule::deliver(uint32_t rank, const void* data, size_t bytes) {
  if (what_.store != nullptr) return what_.store(what_.store_context, rank, data, bytes);
  const layout::Buffer to = block_from(rank);
  if (bytes > to.bytes()) fail(-EMSGSIZE);
  bytes = std::min(bytes, to.bytes());
  if (to.data() != data) layout::copy_bytes(to.data(), data, bytes);
}

void Schedule::pack_runs() {
  const nagaya_blocks all = what_.send;
  const bool is_listed = all.offset_of != nullptr || what_.receive.offset_of != nullptr;
  if (what_.kind == NAGAYA_BCAST && !is_listed) return;  // its messages carry the runs
  if (layout::has_runs(all)) {
    const bool has_block_for_each = what_.kind == NAGAYA_SCATTER || what_.kind == NAGAYA_ALLTOALL;
    const uint32_t count = has_block_for_each ? size() : 1;
    auto* const sizes = reinterpret_cast<size_t*>(new_scratch(count * sizeof(size_t)));
    auto* const offsets = reinterpret_cast<ptrdiff_t*>(new_scratch(count * sizeof(ptrdiff_t)));
    size_t total = 0;
    for (uint32_t n = 0; n < count; total += sizes[n++]) {
      sizes[n] = layout::block_of(all, n).bytes();
      offsets[n] = static_cast<ptrdiff_t>(total);
    }
    std::byte* const packed = new_scratch(total);
    for (uint32_t n = 0; n < count; ++n)
      layout::gather(layout::block_of(all, n), packed + offsets[n], sizes[n]);
    what_.send = layout::listed_blocks(packed, sizes, offsets);
  }
  if (layout::has_runs(what_.receive) && what_.store == nullptr) {
    what_.store = store_in_runs;
    what_.store_context = this;
  }
}

void Schedule::store_in_runs(void* schedule, uint32_t rank, const void* data, size_t bytes) {
  auto* const self = static_cast<Schedule*>(schedule);
  const layout::Buffer to = self->block_from(rank);
  if (bytes > to.bytes()) self->fail(-EMSGSIZE);
  bytes = std::min(bytes, to.bytes());
  layout::copy(to.walk(), layout::Buffer(data, bytes, nullptr).walk(), bytes);
}

// ---- stages -------------------------------------------------------------------------------------

// After a step has failed, `between` and `end` are left out, but `last` still runs: other members
// get its messages, though without valid data, and do not wait for ever.
bool Schedule::add_stage() {
  if (stage_ == Stage::kFirst) {
    stage_ = Stage::kBetween;
    pack_runs();
    first();
    return true;
  }
  if (stage_ == Stage::kBetween) {
    if (error_ == 0 && between(round_++)) return true;
    stage_ = Stage::kLast;
    last();
    return true;
  }
  if (error_ == 0) end();
  return false;
}

void Schedule::run_stages() {
  do {
    sends_.clear();
    receives_.clear();
    deferred_sends_.clear();
    fan_in_.schedule = fan_out_.schedule = nullptr;
    try {
      if (!add_stage()) return finish();
    } catch (const std::bad_alloc&) {
      // The later stages are left out: they would send from memory that is missing.
      fail(-ENOMEM);
      stage_ = Stage::kEnd;
    }
    start_steps();
  } while (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1);
}

void Schedule::start_steps() {
  const bool fans_in = fan_in_.schedule != nullptr, fans_out = fan_out_.schedule != nullptr;
  pending_.store(static_cast<uint32_t>(1 + sends_.size() + receives_.size() +
                                       2 * deferred_sends_.size() + fans_in + fans_out),
                 std::memory_order_relaxed);
  const auto start = [&](int error) {
    if (error != 0) finish_step(error);
  };
  for (ReceiveStep& step : receives_) start(nagaya_match_receive(&step.receive));
  for (DeferredSend& deferred : deferred_sends_)
    if (const int error = nagaya_match_receive(&deferred.ready); error != 0) {
      deferred.ready.error = error;
      deferred.ready.complete(&deferred.ready);
    }
  for (SendStep& step : sends_) start(nagaya_match_send(&step.send));
  if (fans_in) start_node_collective(fan_in_, team_.fan_in());
  if (fans_out) start_node_collective(fan_out_, team_.fan_out());
}

void Schedule::start_node_collective(NodeCollective& step, Team& team) {
  int error;
  try {
    error = PendingCollectives::own(team_.waits())
                .start(team, step.what, algorithm_of(step.what, team), step.number);
  } catch (const std::bad_alloc&) {
    error = -ENOMEM;
  }
  if (error != 0) finish_step(error);
}

// Acquire and release: the thread that completes the last step sees the stores of the threads that
// completed the others.
void Schedule::finish_step(int error) {
  if (error != 0) fail(error);
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) run_stages();
}

// The caller's `store` may have set the collective's `error`: it is overwritten only by an error of
// the schedule. The caller may close the team in complete(), so nothing uses the team after it.
void Schedule::finish() {
  MultiNodeTeam& team = team_;
  nagaya_collective& what = callers_collective_;
  {
    const auto lock = team.fan_out().locked();  // pairs with hold()
    what.operation = nullptr;
  }
  if (const int error = error_; error != 0) what.error = error;
  delete this;
  team.end_collective();
  complete(what);
}

}  // namespace nagaya::coll::hierarchy
