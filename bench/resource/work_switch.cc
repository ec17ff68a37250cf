// SPDX-License-Identifier: BSD-3-Clause
// work_switch.cc - ranks that share one core hand a turn round by sched_yield.
#include <sched.h>

#include <vector>

#include "work.h"

namespace nagaya::bench {
namespace {

constexpr uint64_t kLineBytes = 64;

// One operation is one turn handed to the next rank; `bytes` of own memory are touched per turn.
class Switch : public Work {
 public:
  Switch(const Order& order, Meeting& meeting)
      : Work(order), meeting_(meeting), own_(order.bytes / sizeof(uint64_t)) {}

  void run() override {
    const auto ranks = static_cast<uint64_t>(order_.ranks);
    const auto rank = static_cast<uint64_t>(order_.rank);
    // Every rank takes operations / ranks turns, so that `operations` are handed over in all.
    const auto own_turns = static_cast<uint64_t>(order_.operations) / ranks;
    for (uint64_t n = 0; n < own_turns; ++n) {
      const uint64_t mine = done_ + n * ranks + rank;
      while (meeting_.turn.load(std::memory_order_acquire) != mine) ::sched_yield();
      ++meeting_.turns_taken;
      touch();
      meeting_.turn.store(mine + 1, std::memory_order_release);  // read by the next rank's acquire
    }
    done_ += own_turns * ranks;
    own_turns_ += own_turns;
  }

  void check() override {
    if (order_.corrupt && order_.rank == 0) --done_;
    expect(meeting_.turns_taken == done_, "a turn was lost or taken twice");
    for (size_t at = 0; at < own_.size(); at += kLineBytes / sizeof(uint64_t))
      expect(own_[at] == own_turns_, "own memory was changed by another rank");
  }

 private:
  void touch() {
    for (size_t at = 0; at < own_.size(); at += kLineBytes / sizeof(uint64_t)) ++own_[at];
  }
  Meeting& meeting_;
  std::vector<uint64_t> own_;
  uint64_t done_ = 0;       // turns of all ranks before this repetition
  uint64_t own_turns_ = 0;  // so far
};

}  // namespace

std::unique_ptr<Work> make_switch(const Order& order, Meeting& meeting) {
  return std::make_unique<Switch>(order, meeting);
}

}  // namespace nagaya::bench
