// SPDX-License-Identifier: BSD-3-Clause
// in_node.h - shared by the parts of worker.cc: the ranks of one measurement, which are all tasks
// of one space, and the report of their values.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "machine.h"
#include "nagaya/llcl.h"
#include "nagaya/task.h"
#include "resource/meeting.h"

namespace nagaya::bench {

// The names of the sides of a figure, for report().
inline constexpr char kSubject[] = "subject", kIncumbent[] = "incumbent", kFloor[] = "floor";

// One rank of a measurement. It is also the task's number; ranks 2n and 2n + 1 are a pair on two
// processors.
struct Stage {
  int rank, ranks, rounds;
  bool quick, corrupt;
  Meeting* meeting;

  bool leads() const { return rank == 0; }
  int partner() const { return rank ^ 1; }
  uint64_t times(uint64_t full) const { return quick ? full / 100 : full; }
  void meet() const { bench::meet(*meeting, static_cast<uint32_t>(ranks)); }
  // Reports one round's value of one side to the `in-node` program.
  void report(const std::string& figure, const char* side, double value) const;
};

inline void check(int error, const char* what) {
  if (error < 0) throw std::runtime_error(std::string(what) + ": " + nagaya_strerror(error));
}
inline void expect(bool right) {
  if (!right) throw std::runtime_error("a message was lost, or data is wrong");
}

// Returns the object that another rank has published under this name, or waits for it. The object
// must stay as long as the ranks do.
template <class T>
T& of_rank(int rank, const char* name) {
  constexpr int kPatienceMs = 20'000;
  void* address = nullptr;
  check(nagaya_task_lookup(rank, name, kPatienceMs, &address), "lookup");
  return *static_cast<T*>(address);
}

template <class Work>
double ns_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// Times equal batches of operations and takes their median, so that a batch in which another
// process had the processor does not count.
class Batches {
 public:
  // Starts the clock. Each batch has `size` operations.
  explicit Batches(uint64_t size) : size_(size) {}
  // Called after each operation.
  void mark() {
    if (++count_ % size_ != 0) return;
    const auto now = std::chrono::steady_clock::now();
    ns_.push_back(std::chrono::duration<double, std::nano>(now - begin_).count());
    begin_ = now;
  }
  // Returns the time of one operation [ns].
  double median_ns() {
    if (ns_.empty()) throw std::logic_error("less than one batch");
    const auto middle = ns_.begin() + static_cast<ptrdiff_t>(ns_.size() / 2);
    std::nth_element(ns_.begin(), middle, ns_.end());
    return *middle / static_cast<double>(size_);
  }

 private:
  uint64_t size_, count_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<double> ns_;
};

// The groups of measurements: each function runs all its rounds, and in each round it measures the
// sides of each figure one after the other.
void measure_puts(const Stage& stage);
void measure_messages(const Stage& stage);
void measure_copies(const Stage& stage);
void measure_fetch_add(const Stage& stage);
void measure_accumulate(const Stage& stage);
void measure_crowd(const Stage& stage);

}  // namespace nagaya::bench
