// SPDX-License-Identifier: BSD-3-Clause
// comm_api.cc - the C functions of nagaya/comm.h.
#include <algorithm>
#include <mutex>

#include "comm/world.h"
#include "nagaya/comm.h"
#include "task/api_error.h"

namespace nagaya::comm {
namespace {

// This process's, from init to finalize. One collective at a time: no lock on the way.
std::mutex membership_lock;
std::unique_ptr<Membership> membership;

int init() {
  const std::lock_guard lock(membership_lock);
  if (membership != nullptr) return 0;
  llcl::Endpoint* const endpoint = llcl::Endpoint::own();
  if (endpoint == nullptr)
    throw base::Error(-ESRCH, "not a task: start the program by `nagaya run` or `nagaya exec`");
  membership = std::make_unique<Membership>(*endpoint);
  return 0;
}

}  // namespace
}  // namespace nagaya::comm

using namespace nagaya;
using comm::membership;

int nagaya_comm_init(void) {
  return task::guarded(comm::init);
}

int nagaya_comm_finalize(void) {
  if (membership == nullptr) return -ESRCH;
  const int error = membership->barrier();
  const std::lock_guard lock(comm::membership_lock);
  membership.reset();
  return error;
}

int64_t nagaya_comm_size(void) {
  return membership == nullptr ? -ESRCH : int64_t{membership->world().size};
}

int64_t nagaya_comm_rank(void) {
  return membership == nullptr ? -ESRCH : int64_t{membership->rank()};
}

int64_t nagaya_comm_nodes(void) {
  return membership == nullptr ? -ESRCH : int64_t{membership->world().nodes};
}

int64_t nagaya_comm_node(void) {
  return membership == nullptr ? -ESRCH : int64_t{membership->world().node};
}

int nagaya_comm_process(int64_t rank, nagaya_process* out) {
  if (membership == nullptr) return -ESRCH;
  if (out == nullptr || rank < 0 || rank >= membership->world().size) return -EINVAL;
  *out = membership->world().processes[rank];
  return 0;
}

int nagaya_comm_barrier(void) {
  if (membership == nullptr) return -ESRCH;
  return task::guarded([] { return membership->barrier(); });
}

int nagaya_comm_allgather(const void* own, size_t bytes, void* all) {
  if (membership == nullptr) return -ESRCH;
  if ((own == nullptr || all == nullptr) && bytes != 0) return -EINVAL;
  return task::guarded([&] { return membership->allgather(own, bytes, all); });
}
