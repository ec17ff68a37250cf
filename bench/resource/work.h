// SPDX-License-Identifier: BSD-3-Clause
// work.h - the microbenchmarks that a worker can run, and the Order that tells it which to run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "meeting.h"

namespace nagaya::bench {

// The order to a worker, as its arguments.
struct Order {
  std::string work;  // name of the microbenchmark
  int rank = 0;
  int ranks = 1;
  int processor = 0;       // to bind to
  int repetitions = 1;     // timed repetitions; an untimed one comes first
  int64_t operations = 1;  // per repetition
  uint64_t bytes = 0;      // of one operation, where that applies
  bool corrupt = false;    // falsify data before it is checked
  bool threads = false;    // run all ranks as threads of this one process
};

// One microbenchmark of one rank. The worker calls for each repetition: prepare, meet, run (timed),
// meet, check.
class Work {
 public:
  explicit Work(const Order& order) : order_(order) {}
  virtual ~Work() = default;
  virtual void prepare() {}
  virtual void run() = 0;
  // Throws when the data is wrong.
  virtual void check() = 0;

 protected:
  const Order order_;
};

// Throws when `right` is false.
void expect(bool right, const char* what);

std::unique_ptr<Work> make_page_fault(const Order& order);
std::unique_ptr<Work> make_map_unmap(const Order& order);
std::unique_ptr<Work> make_protect(const Order& order);
std::unique_ptr<Work> make_malloc_fixed(const Order& order);
std::unique_ptr<Work> make_malloc_mixed(const Order& order);
std::unique_ptr<Work> make_thread(const Order& order);
std::unique_ptr<Work> make_switch(const Order& order, Meeting& meeting);

}  // namespace nagaya::bench
