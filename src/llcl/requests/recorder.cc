// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/recorder.h"

#include <unistd.h>

#include <mutex>
#include <utility>

namespace nagaya::llcl {
namespace {

uint32_t own_thread() {
  static thread_local constinit uint32_t id = 0;
  if (id == 0) id = static_cast<uint32_t>(::gettid());
  return id;
}

}  // namespace

// Returns the task's line. Takes it over if an earlier task of the same number has written it.
TaskActivity& Recorder::own() {
  // Acquire: pairs with ActivityFile::make().
  Activity& activity = *board_.activity.load(std::memory_order_acquire);
  TaskActivity& line = activity.of(self_.number());
  if (line.owner.load(std::memory_order_relaxed) != self_.bits) [[unlikely]] {
    const std::lock_guard guard(lock_);
    if (line.owner.exchange(self_.bits, std::memory_order_relaxed) == self_.bits) return line;
    line.waiting_since.store(0, std::memory_order_relaxed);
    ActivityEvent begun{};
    begun.begin = arch::ticks();
    begun.kind = ActivityEvent::Kind::kBegun;
    begun.thread = static_cast<uint32_t>(::getpid());
    if (is_logged()) activity.add(self_.number(), begun);
  }
  return line;
}

void Recorder::log(ActivityEvent event) {
  event.thread = own_thread();
  const std::lock_guard guard(lock_);
  // Relaxed: own() has loaded it before.
  board_.activity.load(std::memory_order_relaxed)->add(self_.number(), event);
}

void Recorder::log_message(ActivityEvent::Kind kind, nagaya_process process,
                           const RecordedMessage& message) {
  ActivityEvent event{};
  event.begin = arch::ticks();
  event.context = message.context;
  event.serial = message.serial;
  event.bytes = message.bytes;
  event.kind = kind;
  event.process = other(process);
  event.source = message.source;
  event.tag = message.tag;
  log(event);
}

void Recorder::count_sent(nagaya_process to, const RecordedMessage& message) {
  TaskActivity& line = own();
  TaskActivity::add(line.messages, 1);
  TaskActivity::add(line.message_bytes, message.bytes);
  if (is_logged()) log_message(ActivityEvent::Kind::kSent, to, message);
}

void Recorder::count_received(nagaya_process from, const RecordedMessage& message) {
  arrived(Purpose::kReceive, from);
  if (!is_logged()) return;
  own();
  log_message(ActivityEvent::Kind::kReceived, from, message);
}

void Recorder::expect(Purpose purpose, nagaya_process whom) {
  const WaitReason reason = WaitReason::of(purpose, other(whom));
  if (expected_.load(std::memory_order_relaxed).bits == reason.bits) return;
  expected_.store(reason, std::memory_order_relaxed);
  own().waiting_for.store(reason.bits, std::memory_order_relaxed);
}

// Forgets the expected process: if several messages are pending, the next one is not known.
void Recorder::arrived(Purpose purpose, nagaya_process whom) {
  expected_.store({}, std::memory_order_relaxed);
  arrived_.store(WaitReason::of(purpose, other(whom)), std::memory_order_relaxed);
}

// ---- waits --------------------------------------------------------------------------------------

void RecordedWait::begin_or_count() {
  ++polls_;
  if (polls_ >= kShortPolls || recorder_.is_logged()) return begin();
  if (polls_ != 1) return;
  const uint32_t number = recorder_.short_waits_.load(std::memory_order_relaxed);
  recorder_.short_waits_.store(number + 1, std::memory_order_relaxed);
  if (number % kSampled == 0) sample_begin_ = arch::ticks();
}

void RecordedWait::begin() {
  TaskActivity& line = recorder_.own();
  const WaitReason expected = recorder_.expected_.load(std::memory_order_relaxed);
  const bool is_for_this = is_general(purpose_) || expected.purpose() == purpose_;
  const WaitReason reason =
      is_for_this && expected.is_known() ? expected : WaitReason::of(purpose_, {});
  begin_ = arch::ticks();
  if (sample_begin_ != 0)
    TaskActivity::add(line.waited_ticks, kSampled * (begin_ - std::exchange(sample_begin_, 0)));
  recorder_.arrived_.store({}, std::memory_order_relaxed);
  line.waiting_for.store(reason.bits, std::memory_order_relaxed);
  line.waiting_since.store(begin_, std::memory_order_relaxed);
}

// Returns what the wait was for, by the last event in it and by what was expected before.
WaitReason RecordedWait::reason(WaitReason arrived, WaitReason expected) const {
  if (is_general(purpose_)) return arrived.is_known() ? arrived : expected;
  const bool is_arrival_better = arrived.purpose() == purpose_ || expected.purpose() != purpose_ ||
                                 !expected.whom().is_known();
  return WaitReason::of(purpose_, is_arrival_better ? arrived.whom() : expected.whom());
}

void RecordedWait::end() {
  TaskActivity& line = recorder_.own();
  const uint64_t now = arch::ticks();
  if (begin_ == 0) return TaskActivity::add(line.waited_ticks, kSampled * (now - sample_begin_));
  TaskActivity::add(line.waited_ticks, now - begin_);
  line.waiting_since.store(0, std::memory_order_relaxed);
  if (!recorder_.is_logged()) return;
  const WaitReason what = reason(recorder_.arrived_.load(std::memory_order_relaxed),
                                 {line.waiting_for.load(std::memory_order_relaxed)});
  ActivityEvent event{};
  event.begin = begin_;
  event.end = now;
  event.kind = ActivityEvent::Kind::kWaited;
  event.purpose = what.purpose();
  event.process = what.whom();
  recorder_.log(event);
}

}  // namespace nagaya::llcl
