// SPDX-License-Identifier: BSD-3-Clause
// schedule.h - a machine that runs one atomic operation at a time, and the search through all its
// schedules.
//
// Each thread of a test is a fiber. Before every operation the running one may go on (free) or be
// preempted by another (costs 1); a store that is not sequentially consistent may stay invisible to
// the others until its thread's next store, read-modify-write, fence or sleep (costs 1), as in a
// processor's store buffer. When a fiber sleeps or ends, every other that can run is tried (free).
// explore() runs every schedule whose cost is at most the budget.
//
// A fiber that yields runs again, and a timed sleep ends, only when nobody else can run. Nobody can
// run and somebody sleeps for ever: a lost wake-up. Orders weaker than the store buffer are
// ThreadSanitizer's to find, not this one's.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "mailbox/machine.h"

namespace nagaya::mailbox::schedule {

struct Store {
  const void* atomic;
  uint64_t value;
  void (*make_visible)(const void* atomic, uint64_t value);
};

inline constexpr size_t kStackBytes = 64 << 10;

struct Fiber {
  enum class State { kRunnable, kYielding, kSleeping, kSleepingTimed, kAwaitingDeath, kOver };

  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  std::function<void()> body;
  std::vector<Store> store_buffer;
  State state = State::kRunnable;
  const void* word = nullptr;  // that it sleeps on
  uint64_t operations = 0;
  uint64_t dies_before = UINT64_MAX;  // this operation
};

// One alternative among several that was taken in a run.
struct Choice {
  size_t chosen, count;
};

// One run of a test; `choices` say how, and grow by the first alternative where they end.
class Run {
 public:
  Run(std::vector<Choice>& choices, int budget) : choices_(choices), budget_(budget) {}
  static Run& current() { return *running(); }
  static Run*& running() {
    static Run* run = nullptr;
    return run;
  }

  void add(std::function<void()> body, uint64_t dies_before = UINT64_MAX) {
    fibers_.push_back(std::make_unique<Fiber>());
    fibers_.back()->body = std::move(body);
    fibers_.back()->dies_before = dies_before;
  }
  // Runs all fibers to their end. Returns the failure, empty if none.
  std::string go();
  bool somebody_died() const { return died_; }

  // Called by the machine below, in a fiber.
  void before_operation();
  void store(const Store& store, bool at_once);
  const uint64_t* buffered(const void* atomic) const;  // the fiber's own view of it
  void flush();
  void flush_all();
  void sleep(const void* word, bool timed);
  void wake(const void* word);
  void yield();
  void await_death();

 private:
  static void enter();
  static void flush(Fiber& fiber);
  size_t choose(size_t count);
  void leave(Fiber::State state);
  Fiber* next();
  void switch_to(Fiber* fiber);
  std::vector<Fiber*> in_state(Fiber::State state, const Fiber* except = nullptr);

  std::vector<Choice>& choices_;
  size_t depth_ = 0;
  int budget_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* self_ = nullptr;
  ucontext_t main_;
  bool died_ = false;
  uint64_t idle_rounds_ = 0;
  std::string failure_;
};

// Calls test(run) for every schedule within the budget, until one fails. How many; the failure goes
// to `failure`.
uint64_t explore(int budget, const std::function<std::string(Run&)>& test, std::string& failure);

// The machine for the templates of src/mailbox.
struct Machine {
  template <class T>
  class Atomic {
   public:
    T load(std::memory_order) const {
      Run::current().before_operation();
      const uint64_t* own = Run::current().buffered(this);
      return own ? static_cast<T>(*own) : value_;
    }
    void store(T value, std::memory_order order) {
      Run::current().before_operation();
      Run::current().store({this, value, &Atomic::make_visible},
                           order == std::memory_order_seq_cst);
    }
    bool compare_exchange_strong(T& expected, T wanted, std::memory_order, std::memory_order) {
      const T old = change([&](T seen) { return seen == expected ? wanted : seen; });
      const bool changed = old == expected;
      expected = old;
      return changed;
    }
    bool compare_exchange_weak(T& expected, T wanted, std::memory_order yes, std::memory_order no) {
      return compare_exchange_strong(expected, wanted, yes, no);
    }
    T fetch_add(T by, std::memory_order) {
      return change([&](T seen) { return static_cast<T>(seen + by); });
    }
    T fetch_or(T bits, std::memory_order) {
      return change([&](T seen) { return seen | bits; });
    }
    T fetch_and(T bits, std::memory_order) {
      return change([&](T seen) { return seen & bits; });
    }

   private:
    static void make_visible(const void* atomic, uint64_t value) {
      static_cast<Atomic*>(const_cast<void*>(atomic))->value_ = static_cast<T>(value);
    }
    template <class Change>
    T change(Change change) {
      Run::current().before_operation();
      Run::current().flush();
      const T old = value_;
      value_ = change(old);
      return old;
    }
    T value_;
  };

  static void fence() {
    Run::current().before_operation();
    Run::current().flush();
  }
  static void light_fence() {}
  static void heavy_fence() {
    Run::current().before_operation();
    Run::current().flush_all();
  }
  static bool has_heavy_fence() { return true; }
  static void relax() {}
  static void prefetch(const void*) {}
  static void prefetch_to_write(const void*) {}
  static void yield() { Run::current().yield(); }
  static void step(StopPoint) {}  // here a thread can stop before every operation
  static uint64_t now_ns() { return 0; }
  static void futex_wait(const Atomic<uint32_t>& word, uint32_t expected, uint64_t deadline_ns) {
    Run::current().flush();
    if (word.load(std::memory_order_relaxed) == expected)
      Run::current().sleep(&word, deadline_ns != kNever);
  }
  static void futex_wake(const Atomic<uint32_t>& word) {
    Run::current().before_operation();
    Run::current().wake(&word);
  }
};

}  // namespace nagaya::mailbox::schedule
