// SPDX-License-Identifier: BSD-3-Clause
// simulation.h - runs the code of many members in one process, each on a core of a modelled node
// (node.h), and counts the time that the model takes for each access to memory.
//
//   member's code ── load, store, copy ──► access_hooks.cc ──► Simulation ──► Node: how long?
//        ▲                                                         │
//        └── goes on when no other core is at an earlier time ◄────┘
//
// The code is compiled with -fsanitize=thread: the compiler puts a call in front of each access,
// and access_hooks.cc has these functions. A member is a fiber with a stack of its own; a member
// whose core is ahead of another core waits until the other has caught up, so all accesses happen
// in the order of the modelled times.
//
// A core has loads under way while it goes on (`outstanding`), because processors predict that a
// poll finds what it waits for; a poll in vain waits for its loads. Members that share a core take
// turns: one that polls in vain yields.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "scale/node.h"

namespace nagaya::bench::scale {

class Simulation {
 public:
  // Member n runs on core n, modulo the machine's cores.
  Simulation(const Description& machine, uint32_t members);
  // Member n runs on core core_of[n].
  Simulation(const Description& machine, const std::vector<uint32_t>& core_of);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Runs body(member) for all members, to their ends. Throws if they wait for each other.
  void run(const std::function<void(uint32_t member)>& body);

  uint32_t cores() const { return static_cast<uint32_t>(cores_.size()); }
  bool is_crowded() const { return members_.size() > cores_.size(); }
  const Description& machine() const { return node_.machine(); }

  // ---- called by the running member

  double now_ns() const;
  uint32_t member() const { return running_->number; }
  void load(const void* address, size_t bytes);
  void store(void* address, size_t bytes);
  void update(void* address);  // an atomic addition, exchange, ...
  void fence();                // waits until the core's stores are visible
  void copy(void* to, const void* from, size_t bytes);
  void reduce(void* to, const void* from, size_t bytes);  // to = from + to
  void compute(double ns);
  // Waits until look() returns true. look() only loads and, if it has found something, goes on.
  template <class Look>
  void wait(Look look) {
    for (begin_look(); !look(); begin_look()) pause();
    end_look();
  }
  // Waits for all members, takes no time, and sets all clocks to the latest.
  void align();

  // A lap of the running member: what is timed.
  void begin_lap();
  void end_lap();
  // After run(); without the first `skipped` laps: the mean over the laps of the slowest member's
  // time, and the slowest member's mean time.                                                 [ns]
  double lap_ns(uint32_t member) const;  // its last one
  double mean_of_slowest_ns(size_t skipped) const;
  double slowest_of_means_ns(size_t skipped) const;

  // Writes each access of a member's last laps that another member's line takes part in: its step
  // list. nullptr: of none.
  void list_steps(std::FILE* to, uint32_t member) { steps_ = to, listed_ = member; }

  // Runs act() as the member's code without regard to time, before run(): caches have then what the
  // members have used.
  void warm_up(uint32_t member, const std::function<void()>& act);

  // The simulation whose member's code runs at present; nullptr: no member's, or the simulation's
  // own.
  static Simulation* current() { return current_; }

 private:
  struct Member {
    uint32_t number;
    uint32_t core;
    std::unique_ptr<std::byte[]> stack;
    ucontext_t context;
    bool is_done = false;
    bool is_waiting = false;  // until a line changes that its last look has loaded
    bool looks = false;
    uint64_t look = 0;       // number of its last look
    double changed_ns = 0;   // when a line changed that this look has loaded; 0: none has
    uint64_t last_word = 0;  // the address of its last load
    double lap_begin_ns = 0;
    std::vector<double> laps_ns;
  };
  struct Core {
    double now_ns = 0;
    double loaded_ns = 0;                 // when all its loads are there
    double last_load_ns = 0;              // when the latest of them is there
    double address_ns = 0;                // when the address of a copy's source is there
    std::deque<double> under_way;         // when each of its last loads is there
    std::deque<double> stores_under_way;  // when each of a copy's last stores is visible
    std::deque<Member*> members;          // that may run, or whose turn comes; the first one runs
  };
  enum class Why { kOthersFirst, kYield, kWait, kDone };

  // While it lives, the simulation's own code runs, whose accesses are not counted.
  struct Inside {
    explicit Inside(Simulation& simulation) : self(simulation) { current_ = nullptr; }
    ~Inside() { current_ = &self; }
    Simulation& self;
  };

  Core& core() { return cores_[running_->core]; }
  const Core& core() const { return cores_[running_->core]; }
  uintptr_t line_begin(const void* address) const;
  void touch(const void* address, bool stores);
  void await_address(const void* address);
  // A line of a copy.
  void read(const void* address, double outstanding);
  void write(const void* address, double outstanding);
  template <class Each>
  void for_each_line(size_t bytes, Each each);
  // How many lines a copy loads and stores at a time.
  struct Outstanding {
    double loads, stores;
  };
  Outstanding outstanding_of(size_t bytes) const;
  // Waits until at most `most` - 1 of these are under way.
  void make_room(std::deque<double>& under_way, double most);
  void drain();
  void begin_look();
  void end_look();
  void list_step(const char* what, const void* address, const Node::Access& access);
  void pause();
  void watch(Line& line);
  void wake_watchers(Line& line);
  void let_others_catch_up();
  void leave(Why why);
  void run_next();
  void put_back(uint32_t core);
  static void enter(uint32_t self_low, uint32_t self_high);

  Node node_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<Core> cores_;
  std::set<std::pair<double, uint32_t>> order_;  // cores that have members to run, by time
  const std::function<void(uint32_t)>* body_ = nullptr;
  Member* running_ = nullptr;
  Why why_ = Why::kDone;
  ucontext_t scheduler_;
  std::vector<Member*> aligned_;
  uint64_t looks_ = 0;
  uint32_t done_ = 0;
  bool is_warming_up_ = false;
  std::FILE* steps_ = nullptr;
  uint32_t listed_ = 0;
  static Simulation* current_;
};

}  // namespace nagaya::bench::scale
