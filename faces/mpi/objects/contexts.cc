// SPDX-License-Identifier: BSD-3-Clause
#include "objects/contexts.h"

#include <nagaya/task.h>

#include <mutex>
#include <unordered_set>

namespace nagaya::mpi {
namespace {

constexpr uint32_t kCountBits = 18, kCounts = 1u << kCountBits;

std::mutex lock;
std::unordered_set<uint32_t> in_use;  // of this leader
uint32_t last = 0;

uint32_t first_of_this_task() {
  return static_cast<uint32_t>(::nagaya_task_self()) << kCountBits;
}

}  // namespace

uint32_t Contexts::take() {
  const std::lock_guard guard(lock);
  if (in_use.size() == kCounts - 1) return 0;
  do {
    last = last % (kCounts - 1) + 1;
  } while (!in_use.insert(last).second);
  return first_of_this_task() | last;
}

void Contexts::give_back(uint32_t context) {
  const std::lock_guard guard(lock);
  if ((context & ~(kCounts - 1)) == first_of_this_task()) in_use.erase(context & (kCounts - 1));
}

}  // namespace nagaya::mpi
