// SPDX-License-Identifier: BSD-3-Clause
#include "mailbox/schedule.h"

namespace nagaya::mailbox::schedule {
namespace {

constexpr uint64_t kIdleRoundsMax = 100;  // more: they wait for each other and stay awake

}  // namespace

size_t Run::choose(size_t count) {
  if (count < 2) return 0;
  if (depth_ == choices_.size()) choices_.push_back({0, count});
  return choices_[depth_++].chosen;
}

std::vector<Fiber*> Run::in_state(Fiber::State state, const Fiber* except) {
  std::vector<Fiber*> found;
  for (const auto& fiber : fibers_)
    if (fiber->state == state && fiber.get() != except) found.push_back(fiber.get());
  return found;
}

void Run::enter() {
  Run& run = current();
  run.self_->body();
  run.flush();
  run.leave(Fiber::State::kOver);
}

void Run::switch_to(Fiber* fiber) {
  Fiber* before = self_;
  if (fiber == before) return;
  self_ = fiber;
  ::swapcontext(before ? &before->context : &main_, fiber ? &fiber->context : &main_);
}

// The fiber that runs when the current one cannot; nullptr: the run is over.
Fiber* Run::next() {
  using State = Fiber::State;
  std::vector<Fiber*> able = in_state(State::kRunnable);
  if (able.empty()) {
    for (const State idle : {State::kYielding, State::kSleepingTimed})
      for (Fiber* fiber : in_state(idle)) {
        fiber->state = State::kRunnable;
        able.push_back(fiber);
      }
    if (!able.empty() && ++idle_rounds_ > kIdleRoundsMax) {
      failure_ = "nobody gets on";
      return nullptr;
    }
  }
  if (!able.empty()) return able[choose(able.size())];
  if (!in_state(State::kSleeping).empty()) failure_ = "somebody sleeps for ever";
  return nullptr;
}

void Run::leave(Fiber::State state) {
  self_->state = state;
  switch_to(next());
}

void Run::before_operation() {
  if (self_ == nullptr) return;  // the test itself, before or after the fibers
  if (self_->operations++ == self_->dies_before) {
    flush();
    died_ = true;
    for (Fiber* fiber : in_state(Fiber::State::kAwaitingDeath))
      fiber->state = Fiber::State::kRunnable;
    leave(Fiber::State::kOver);
  }
  if (budget_ == 0) return;
  const std::vector<Fiber*> others = in_state(Fiber::State::kRunnable, self_);
  const size_t chosen = choose(1 + others.size());
  if (chosen == 0) return;
  --budget_;
  switch_to(others[chosen - 1]);
}

void Run::store(const Store& store, bool at_once) {
  if (self_ == nullptr) return store.make_visible(store.atomic, store.value);
  flush();
  self_->store_buffer.push_back(store);
  if (!at_once && budget_ > 0 && choose(2) == 1)
    --budget_;
  else
    flush();
}

const uint64_t* Run::buffered(const void* atomic) const {
  if (self_ == nullptr) return nullptr;
  for (const Store& store : self_->store_buffer)
    if (store.atomic == atomic) return &store.value;
  return nullptr;
}

void Run::flush() {
  if (self_ != nullptr) flush(*self_);
}

void Run::flush_all() {
  for (const auto& fiber : fibers_) flush(*fiber);
}

void Run::flush(Fiber& fiber) {
  for (const Store& store : fiber.store_buffer) store.make_visible(store.atomic, store.value);
  fiber.store_buffer.clear();
}

void Run::sleep(const void* word, bool timed) {
  self_->word = word;
  leave(timed ? Fiber::State::kSleepingTimed : Fiber::State::kSleeping);
}

void Run::wake(const void* word) {
  for (const auto& fiber : fibers_)
    if ((fiber->state == Fiber::State::kSleeping || fiber->state == Fiber::State::kSleepingTimed) &&
        fiber->word == word)
      fiber->state = Fiber::State::kRunnable;
}

void Run::yield() {
  flush();
  leave(Fiber::State::kYielding);
}

void Run::await_death() {
  if (!died_) leave(Fiber::State::kAwaitingDeath);
}

std::string Run::go() {
  for (const auto& fiber : fibers_) {
    ::getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack.get();
    fiber->context.uc_stack.ss_size = kStackBytes;
    fiber->context.uc_link = nullptr;
    ::makecontext(&fiber->context, &Run::enter, 0);
  }
  switch_to(next());
  return failure_;
}

uint64_t explore(int budget, const std::function<std::string(Run&)>& test, std::string& failure) {
  std::vector<Choice> choices;
  for (uint64_t runs = 1;; ++runs) {
    Run run(choices, budget);
    Run::running() = &run;
    failure = test(run);
    if (!failure.empty()) return runs;
    while (!choices.empty() && choices.back().chosen + 1 == choices.back().count)
      choices.pop_back();
    if (choices.empty()) return runs;
    ++choices.back().chosen;
  }
}

}  // namespace nagaya::mailbox::schedule
