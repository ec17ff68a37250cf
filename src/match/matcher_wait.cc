// SPDX-License-Identifier: BSD-3-Clause
// matcher_wait.cc - progress, and what a task does that finds nothing: it helps, spins, yields,
// sleeps (law 7).
#include "match/matcher.h"

namespace nagaya::match {
namespace {

// Looks in vain, while every task can have a processor, before the processor is offered to others.
constexpr uint32_t kPatience = 1000;
// Looks in vain, most of them with a yield, before it sleeps: some 10 ms on a node of its own. Then
// for a millisecond at a time, because others may have something to look at between two calls.
constexpr uint32_t kLooksAwake = 20'000;
constexpr uint64_t kNapNs = 1'000'000;
// While the delegatee sleeps on a crowded node: it is woken by what comes, but whoever only yields
// keeps its processor for milliseconds (EEVDF).
constexpr uint32_t kLooksBesideASleeper = 200;
constexpr uint64_t kShortNapNs = 50'000;
// How long a task of a crowded node spins while its partner runs: some turns of the scheduler.
constexpr uint64_t kBesidePartnerNs = 5'000;
// So long between two looks: the caller does something else meanwhile, and does not wait. That
// takes back so many looks: it never sleeps, but who waits is not kept awake by interrupts.
constexpr uint64_t kElsewhereNs = 500;
constexpr uint32_t kLooksTakenBack = 16;
// Looks in vain before delegatees are told that somebody waits: what comes sooner is of this node.
constexpr uint32_t kSoon = 20;

}  // namespace

int Matcher::progress() {
  be_away(false);
  int count = advance();
  if (count == 0) {
    if (give_way()) return 1;
    count = advance();  // what came while others ran
  }
  if (count != 0) {
    found();
  } else {
    be_away(true);
    if (fruitless_.load(std::memory_order_relaxed) >= kLooksBesideASleeper)
      looked_ns_.store(mailbox::Machine::now_ns(), std::memory_order_relaxed);
  }
  return count;
}

// The looks in vain are over.
void Matcher::found() {
  be_away(false);
  if (fruitless_.load(std::memory_order_relaxed) >= kSoon) {
    remote_.say_waiting(llcl::LaneWaiter::kNo);
    awaits_delegatee_.store(false, std::memory_order_relaxed);
  }
  fruitless_.store(0, std::memory_order_relaxed);
}

// Nothing has come: takes part in a large copy (true), or lets others run.
bool Matcher::give_way() {
  if (board_.copies->any() && board_.copies->help(self_)) return true;
  uint32_t fruitless = fruitless_.load(std::memory_order_relaxed) + 1;
  if (fruitless > kLooksBesideASleeper && was_elsewhere()) fruitless -= kLooksTakenBack;
  if (fruitless > kLooksAwake) fruitless = kLooksAwake + 1;
  fruitless_.store(fruitless, std::memory_order_relaxed);
  if (fruitless == kSoon)
    awaits_delegatee_.store(remote_.say_waiting(llcl::LaneWaiter::kAwake),
                            std::memory_order_relaxed);
  const bool awaits_delegatee = awaits_delegatee_.load(std::memory_order_relaxed);
  if (fruitless > kLooksAwake)
    nap(kNapNs);
  else if (fruitless > kLooksBesideASleeper && awaits_delegatee && !board_.load.has_room() &&
           board_.delegatee_bell.is_armed() && !has_unfinished())
    nap(kShortNapNs);
  else if (fruitless > kPatience || board_.load.crowded() || awaits_delegatee) {
    if (fruitless == 1 && partner_runs_and_sends()) return false;
    be_away(true);
    mailbox::Machine::yield();
    be_away(false);
  }
  return false;
}

// For who has found something just before: if its partner runs too, on another processor, the two
// go on together as long as they find each other there (docs/decisions/0011). Not while others wait
// for the delegatee, who needs a processor. (With threads each look would take a lock.)
bool Matcher::partner_runs_and_sends() {
  const uint32_t partner = partner_.load(std::memory_order_relaxed);
  if (partner == kNobody || locks_ || board_.load.waiting.load(std::memory_order_relaxed) != 0)
    return false;
  const auto is_away = [&] {
    return board_.task_waiters[partner].is_away.load(std::memory_order_relaxed) != 0;
  };
  if (is_away()) return false;
  const uint64_t end_ns = mailbox::Machine::now_ns() + kBesidePartnerNs;
  while (!is_away() && mailbox::Machine::now_ns() < end_ns) {
    if (mailbox_.has_next()) return true;
    mailbox::Machine::relax();
  }
  return false;
}

// `from` will send something next, or answer: the best guess is who was asked last.
void Matcher::expect(nagaya_process from) {
  const bool is_here =
      is_own_node(from) && from.task < board_.capacity && from.task != self_.number();
  partner_.store(is_here ? from.task : kNobody, std::memory_order_relaxed);
}

// What others look at: one of the own lines, which is written only when it changes.
void Matcher::be_away(bool is_away) {
  std::atomic<uint32_t>& said = board_.task_waiters[self_.number()].is_away;
  if (said.load(std::memory_order_relaxed) != is_away)
    said.store(is_away, std::memory_order_relaxed);
}

bool Matcher::was_elsewhere() const {
  return mailbox::Machine::now_ns() - looked_ns_.load(std::memory_order_relaxed) > kElsewhereNs;
}

void Matcher::nap(uint64_t longest_ns) {
  be_away(true);
  if (locks_) return mailbox::Machine::yield();  // the bell is for one thread
  remote_.say_waiting(llcl::LaneWaiter::kAsleep);
  mailbox::Waiting(mailbox_.bell(), board_.load, {.spins = 0, .yields = 0})
      .until([&] { return mailbox_.has_next(); }, mailbox::Machine::now_ns() + longest_ns,
             mailbox_);
  remote_.say_waiting(llcl::LaneWaiter::kAwake);
}

}  // namespace nagaya::match
