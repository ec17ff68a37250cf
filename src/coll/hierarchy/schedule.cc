// SPDX-License-Identifier: BSD-3-Clause
#include "coll/hierarchy/schedule.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "coll/algorithms.h"
#include "coll/underway.h"
#include "layout/blocks.h"

namespace nagaya::coll::hierarchy {

Schedule::Schedule(WideTeam& team, nagaya_collective& callers, const WideAlgorithm& algorithm)
    : team_(team),
      callers_(callers),
      what_(callers),
      algorithm_(algorithm),
      number_(team.new_number()) {
  // Fan-out starts at different times at different members. Its number is taken here, so that all
  // members run their fan-outs in the order of the collectives' starts.
  if (algorithm.fans_out && team.fan_out().group().is_open())
    fan_out_.number = team.fan_out().new_number();
}

void Schedule::start(WideTeam& team, nagaya_collective& what, const WideAlgorithm& algorithm) {
  auto* const schedule = new Schedule(team, what, algorithm);
  what.is_complete = 0;
  what.error = 0;
  what.operation = schedule;
  schedule->go_on();
}

uint32_t Schedule::leader_of(uint32_t node) const {
  if (algorithm_.has_root && nodes().node_of(what_.root) == node) return what_.root;
  return nodes().ranks_of(node)[0];
}

// ---- steps --------------------------------------------------------------------------------------

void Schedule::prepare(nagaya_send& send, uint32_t to, const layout::Buffer& from,
                       size_t bytes) const {
  send.to = team_.process(to);
  send.envelope = team_.envelope(rank(), number_);
  send.data = from.data();
  send.bytes = bytes;
  send.runs = from.gaps();
}

void Schedule::prepare(nagaya_receive& receive, uint32_t from, const layout::Buffer& to,
                       size_t bytes) const {
  receive.wanted = team_.envelope(from, number_);
  receive.from = team_.process(from);
  receive.buffer = to.data();
  receive.capacity = bytes;
  receive.runs = to.gaps();
}

void Schedule::send(uint32_t to, const layout::Buffer& from, size_t bytes) {
  Send& step = sends_.emplace_back();
  step.schedule = this;
  prepare(step.send, to, from, bytes);
  step.send.complete = [](nagaya_send* send) {
    const Send* const step = reinterpret_cast<Send*>(send);
    step->schedule->finish_step(send->error);
  };
}

void Schedule::receive(uint32_t from, const layout::Buffer& to, size_t bytes) {
  Receive& step = receives_.emplace_back();
  step.schedule = this;
  prepare(step.receive, from, to, bytes);
  step.receive.complete = [](nagaya_receive* receive) {
    const Receive* const step = reinterpret_cast<Receive*>(receive);
    step->schedule->finish_step(receive->error);
  };
}

void Schedule::offer(uint32_t to, const layout::Buffer& from, size_t bytes) {
  Offer& offer = offers_.emplace_back();
  offer.schedule = this;
  prepare(offer.ready, to, {nullptr, 0, nullptr}, 0);
  prepare(offer.send, to, from, bytes);
  offer.ready.complete = [](nagaya_receive* ready) {
    Offer& offer = *reinterpret_cast<Offer*>(ready);
    Schedule* const schedule = offer.schedule;
    if (offer.leave_awaited(Offer::State::kRead)) schedule->begin(offer);
    schedule->finish_step(ready->error);
  };
  offer.send.complete = [](nagaya_send* send) {
    Offer& offer =
        *reinterpret_cast<Offer*>(reinterpret_cast<std::byte*>(send) - offsetof(Offer, send));
    const int error = send->error;
    // Release: pairs with is(). The caller's memory was read before.
    offer.state.store(Offer::State::kOver, std::memory_order_release);
    offer.schedule->finish_step(error);
  };
}

void Schedule::begin(Offer& offer) {
  const int error = nagaya_match_send(&offer.send);
  if (error == 0) return;
  offer.send.error = error;
  offer.send.complete(&offer.send);
}

void Schedule::set_local(Local& local, const nagaya_collective& what) {
  local.what = what;
  local.what.complete = [](nagaya_collective* what) {
    const Local* const step = reinterpret_cast<Local*>(what);
    step->schedule->finish_step(what->error);
  };
  local.schedule = this;
}

void Schedule::fan_out_to(void (*store)(void*, uint32_t, const void*, size_t),
                          nagaya_collective_kind kind, size_t bytes) {
  if (is_alone()) return;
  nagaya_collective out = new_local(kind);
  if (is_leader()) out.send = layout::equal_blocks(buffer, bytes);
  out.receive = layout::equal_blocks(nullptr, bytes);
  out.store = store;
  out.store_context = this;
  fan_out(out);
}

std::byte* Schedule::new_scratch(size_t bytes) {
  scratch_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  return scratch_.back().get();
}

// ---- a block that its root wants back -----------------------------------------------------------

// The root of a BCAST adds steps only in its last stage. So if no step is pending, the schedule
// ends, and is not held.
Schedule::Held Schedule::hold(WideTeam& team, nagaya_collective& what) {
  const auto lock = team.fan_out().locked();
  auto* const schedule = static_cast<Schedule*>(what.operation);
  if (schedule == nullptr) return nullptr;
  uint32_t pending = schedule->pending_.load(std::memory_order_acquire);
  while (pending != 0 &&
         !schedule->pending_.compare_exchange_weak(pending, pending + 1, std::memory_order_acquire))
    continue;
  return Held(pending == 0 ? nullptr : schedule);
}

// Starts the sends without the lock: the completion of a send that is complete at once takes it.
bool Schedule::detach() {
  if (buffer != nullptr) return true;  // the block was short, and copied at once
  const layout::Block block = layout::block_of(what_.send, 0);
  std::byte* copy = nullptr;
  {
    const auto lock = team_.fan_out().locked();
    Operation* const here = fan_out_operation();
    const bool is_here_awaited = here != nullptr && !here->have_all_begun();
    const bool is_elsewhere_awaited = std::any_of(offers_.begin(), offers_.end(), [](Offer& offer) {
      return offer.is(Offer::State::kAwaited);
    });
    if (!is_here_awaited && !is_elsewhere_awaited) return false;
    copy = new_scratch(block.bytes);
    layout::gather(block.buffer(), copy, block.bytes);
    if (is_here_awaited) here->detach(copy);
  }
  for (Offer& offer : offers_) {
    if (!offer.leave_awaited(Offer::State::kCopied)) continue;
    offer.send.data = copy;
    offer.send.runs = nullptr;
    begin(offer);
  }
  return true;
}

bool Schedule::is_unread() {
  const auto lock = team_.fan_out().locked();
  const Operation* const here = fan_out_operation();
  return (here == nullptr || here->is_unread()) &&
         std::none_of(offers_.begin(), offers_.end(),
                      [](Offer& offer) { return offer.is(Offer::State::kRead); });
}

// ---- blocks -------------------------------------------------------------------------------------

nagaya_blocks Schedule::own_blocks(const nagaya_blocks& all) {
  const size_t count = own_ranks().size();
  auto* const sizes = reinterpret_cast<size_t*>(new_scratch(count * sizeof(size_t)));
  auto* const offsets = reinterpret_cast<ptrdiff_t*>(new_scratch(count * sizeof(ptrdiff_t)));
  for (size_t n = 0; n < count; ++n) {
    const layout::Block block = layout::block_of(all, own_ranks()[n]);
    sizes[n] = block.bytes;
    offsets[n] = block.data - static_cast<std::byte*>(all.base);
  }
  return layout::listed_blocks(all.base, sizes, offsets);
}

layout::Block Schedule::block_from(uint32_t rank) const {
  const bool has_one = what_.kind == NAGAYA_BCAST || what_.kind == NAGAYA_SCATTER;
  return layout::block_of(what_.receive, has_one ? 0 : rank);
}

void Schedule::take(uint32_t rank, const void* data, size_t bytes) {
  if (what_.store != nullptr) return what_.store(what_.store_context, rank, data, bytes);
  const layout::Block to = block_from(rank);
  if (bytes > to.bytes) fail(-EMSGSIZE);
  bytes = std::min(bytes, to.bytes);
  if (bytes != 0 && to.data != data) std::memcpy(to.data, data, bytes);
}

void Schedule::pack() {
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
      sizes[n] = layout::block_of(all, n).bytes;
      offsets[n] = static_cast<ptrdiff_t>(total);
    }
    std::byte* const packed = new_scratch(total);
    for (uint32_t n = 0; n < count; ++n)
      layout::gather(layout::block_of(all, n).buffer(), packed + offsets[n], sizes[n]);
    what_.send = layout::listed_blocks(packed, sizes, offsets);
  }
  if (layout::has_runs(what_.receive) && what_.store == nullptr) {
    what_.store = store_in_runs;
    what_.store_context = this;
  }
}

void Schedule::store_in_runs(void* schedule, uint32_t rank, const void* data, size_t bytes) {
  auto* const self = static_cast<Schedule*>(schedule);
  const layout::Block to = self->block_from(rank);
  if (bytes > to.bytes) self->fail(-EMSGSIZE);
  bytes = std::min(bytes, to.bytes);
  layout::copy(to.buffer().walk(), layout::Buffer(data, bytes, nullptr).walk(), bytes);
}

void Schedule::take_from_member(void* schedule, uint32_t index, const void* data, size_t bytes) {
  auto* const self = static_cast<Schedule*>(schedule);
  self->take(self->own_ranks()[index], data, bytes);
}

// ---- stages -------------------------------------------------------------------------------------

// After a step has failed, `between` and `end` are left out, but `last` still runs: other members
// get its messages, though without valid data, and do not wait for ever.
bool Schedule::add_stage() {
  if (stage_ == Stage::kFirst) {
    stage_ = Stage::kBetween;
    pack();
    if (algorithm_.first != nullptr) algorithm_.first(*this);
    return true;
  }
  if (stage_ == Stage::kBetween) {
    const bool goes_on = algorithm_.between != nullptr && error_ == 0;
    if (goes_on && algorithm_.between(*this, round_++)) return true;
    stage_ = Stage::kLast;
    if (algorithm_.last != nullptr) algorithm_.last(*this);
    return true;
  }
  if (algorithm_.end != nullptr && error_ == 0) algorithm_.end(*this);
  return false;
}

void Schedule::go_on() {
  do {
    sends_.clear();
    receives_.clear();
    offers_.clear();
    fan_in_.schedule = fan_out_.schedule = nullptr;
    try {
      if (!add_stage()) return finish();
    } catch (const std::bad_alloc&) {
      // The later stages are left out: they would send from memory that is missing.
      fail(-ENOMEM);
      stage_ = Stage::kEnd;
    }
    launch();
  } while (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1);
}

void Schedule::launch() {
  const bool fans_in = fan_in_.schedule != nullptr, fans_out = fan_out_.schedule != nullptr;
  pending_.store(static_cast<uint32_t>(1 + sends_.size() + receives_.size() + 2 * offers_.size() +
                                       fans_in + fans_out),
                 std::memory_order_relaxed);
  const auto start = [&](int error) {
    if (error != 0) finish_step(error);
  };
  for (Receive& step : receives_) start(nagaya_match_receive(&step.receive));
  for (Offer& offer : offers_)
    if (const int error = nagaya_match_receive(&offer.ready); error != 0) {
      offer.ready.error = error;
      offer.ready.complete(&offer.ready);
    }
  for (Send& step : sends_) start(nagaya_match_send(&step.send));
  if (fans_in) start_local(fan_in_, team_.fan_in());
  if (fans_out) start_local(fan_out_, team_.fan_out());
}

void Schedule::start_local(Local& local, Team& team) {
  int error;
  try {
    error = Underway::own(team_.waits())
                .start(team, local.what, algorithm_of(local.what, team), local.number);
  } catch (const std::bad_alloc&) {
    error = -ENOMEM;
  }
  if (error != 0) finish_step(error);
}

// Acquire and release: the thread that completes the last step sees the stores of the threads that
// completed the others.
void Schedule::finish_step(int error) {
  if (error != 0) fail(error);
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) go_on();
}

// The caller's `store` may have set the collective's `error`: it is overwritten only by an error of
// the schedule. The caller may close the team in complete(), so nothing uses the team after it.
void Schedule::finish() {
  WideTeam& team = team_;
  nagaya_collective& what = callers_;
  {
    const auto lock = team.fan_out().locked();  // pairs with hold()
    what.operation = nullptr;
  }
  if (const int error = error_; error != 0) what.error = error;
  delete this;
  team.end_one();
  complete(what);
}

}  // namespace nagaya::coll::hierarchy
