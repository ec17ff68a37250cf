// SPDX-License-Identifier: BSD-3-Clause
// comm_api.cc - the C functions of nagaya/comm.h.
#include <mutex>

#include "comm/membership.h"
#include "nagaya/comm.h"
#include "task/api_error.h"

namespace nagaya::comm {
namespace {

std::mutex init_lock;
// Made by the first init. Ranks and windows stay what they are when the program comes back after a
// finalize: nobody is asked again. Never destroyed, but the launcher is left as the process ends.
struct Known {
  Membership* membership = nullptr;

  ~Known() {
    if (membership != nullptr) membership->leave_launcher();
  }
} known;
// The same from the first init to the last finalize. One collective at a time: no lock on the way.
Membership* membership = nullptr;
uint32_t inits = 0;  // that no finalize has undone

int init() {
  const std::lock_guard lock(init_lock);
  llcl::Endpoint* const endpoint = llcl::Endpoint::own();
  if (endpoint == nullptr)
    throw base::Error(-ESRCH, "not a task: start the program by `nagaya run` or `nagaya exec`");
  if (known.membership == nullptr) known.membership = new Membership(*endpoint);
  membership = known.membership;
  ++inits;
  return 0;
}

int finalize() {
  {
    const std::lock_guard lock(init_lock);
    if (inits > 1) return --inits, 0;
  }
  membership->unwatch_nodes();  // another node may leave as soon as all are here
  const int error = membership->barrier();
  const std::lock_guard lock(init_lock);
  inits = 0;
  membership = nullptr;
  known.membership->leave_launcher();
  return error;
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
  return task::guarded(comm::finalize);
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
  return out == nullptr ? -EINVAL : membership->world().tables.process_of(rank, *out);
}

int64_t nagaya_comm_rank_of(nagaya_process process) {
  if (membership == nullptr) return -ESRCH;
  const int64_t rank = membership->world().tables.rank_of(process);
  return rank < 0 ? -EINVAL : rank;
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

int nagaya_comm_watch_nodes(void (*lost)(int64_t rank, int error)) {
  const std::lock_guard lock(comm::init_lock);
  if (membership == nullptr) return -ESRCH;
  return lost == nullptr ? -EINVAL : membership->watch_nodes(lost);
}

void nagaya_comm_unwatch_nodes(void (*lost)(int64_t rank, int error)) {
  const std::lock_guard lock(comm::init_lock);
  if (membership != nullptr) membership->unwatch_nodes(lost);
}
