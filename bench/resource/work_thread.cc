// SPDX-License-Identifier: BSD-3-Clause
// work_thread.cc - creation and end of threads: stacks, TLS and exits of one address space.
#include <pthread.h>

#include "work.h"

namespace nagaya::bench {
namespace {

void* count_one(void* counter) {
  ++*static_cast<int64_t*>(counter);
  return counter;
}

// Creates and joins a thread that adds one.
class Thread : public Work {
 public:
  using Work::Work;
  void prepare() override { counter_ = 0; }
  void run() override {
    for (int64_t n = 0; n < order_.operations; ++n) {
      pthread_t thread;
      expect(::pthread_create(&thread, nullptr, count_one, &counter_) == 0, "pthread_create");
      ::pthread_join(thread, nullptr);
    }
  }
  void check() override {
    if (order_.corrupt) ++counter_;
    expect(counter_ == order_.operations, "a thread did not run, or ran twice");
  }

 private:
  int64_t counter_ = 0;
};

}  // namespace

std::unique_ptr<Work> make_thread(const Order& order) {
  return std::make_unique<Thread>(order);
}

}  // namespace nagaya::bench
