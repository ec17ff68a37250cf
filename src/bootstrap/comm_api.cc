// SPDX-License-Identifier: BSD-3-Clause
// comm_api.cc - the C functions of nagaya/comm.h.
#include <mutex>

#include "bootstrap/membership.h"
#include "nagaya/comm.h"
#include "task/api_error.h"
#include "task/space/own_record.h"

namespace nagaya::bootstrap {
namespace {

std::mutex init_lock;
// The membership that the first init makes. An init after a finalize uses it again, with the same
// ranks and windows, and asks nobody. It is never destroyed, but leaves the launcher as the process
// ends.
struct Known {
  Membership* membership = nullptr;

  ~Known() {
    if (membership != nullptr) membership->leave_launcher();
  }
} known;
// Equals known.membership between the first init and the last finalize, else nullptr. One
// collective runs at a time: there is no lock.
Membership* membership = nullptr;
uint32_t inits = 0;  // that no finalize has undone

// Returns the membership; nullptr: outside of init and finalize, or in a forked child, which has no
// part in the job.
Membership* joined() {
  return task::own_record() != nullptr ? membership : nullptr;
}

int init() {
  llcl::Endpoint* const endpoint = llcl::Endpoint::own();
  if (endpoint == nullptr)
    throw base::Error(
        -ESRCH,
        "not a task: start the program by `nagaya run` or `nagaya exec`; a child that "
        "a task forks is none");
  const std::lock_guard lock(init_lock);  // a forked child may have a copy that is locked
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
}  // namespace nagaya::bootstrap

using namespace nagaya;
using bootstrap::joined;
using bootstrap::Membership;

int nagaya_comm_init(void) {
  return task::guarded(bootstrap::init);
}

int nagaya_comm_finalize(void) {
  return joined() == nullptr ? -ESRCH : task::guarded(bootstrap::finalize);
}

int64_t nagaya_comm_size(void) {
  const Membership* const self = joined();
  return self == nullptr ? -ESRCH : int64_t{self->world().size};
}

int64_t nagaya_comm_rank(void) {
  const Membership* const self = joined();
  return self == nullptr ? -ESRCH : int64_t{self->rank()};
}

int64_t nagaya_comm_nodes(void) {
  const Membership* const self = joined();
  return self == nullptr ? -ESRCH : int64_t{self->world().nodes};
}

int64_t nagaya_comm_node(void) {
  const Membership* const self = joined();
  return self == nullptr ? -ESRCH : int64_t{self->world().node};
}

int nagaya_comm_process(int64_t rank, nagaya_process* out) {
  const Membership* const self = joined();
  if (self == nullptr) return -ESRCH;
  return out == nullptr ? -EINVAL : self->world().tables.process_of(rank, *out);
}

int64_t nagaya_comm_rank_of(nagaya_process process) {
  const Membership* const self = joined();
  if (self == nullptr) return -ESRCH;
  const int64_t rank = self->world().tables.rank_of(process);
  return rank < 0 ? -EINVAL : rank;
}

int nagaya_comm_barrier(void) {
  Membership* const self = joined();
  return self == nullptr ? -ESRCH : task::guarded([&] { return self->barrier(); });
}

int nagaya_comm_allgather(const void* own, size_t bytes, void* all) {
  Membership* const self = joined();
  if (self == nullptr) return -ESRCH;
  if ((own == nullptr || all == nullptr) && bytes != 0) return -EINVAL;
  return task::guarded([&] { return self->allgather(own, bytes, all); });
}

int nagaya_comm_watch_nodes(void (*lost)(int64_t rank, int error)) {
  Membership* const self = joined();
  if (self == nullptr) return -ESRCH;
  const std::lock_guard lock(bootstrap::init_lock);
  return lost == nullptr ? -EINVAL : self->watch_nodes(lost);
}

void nagaya_comm_unwatch_nodes(void (*lost)(int64_t rank, int error)) {
  Membership* const self = joined();
  if (self == nullptr) return;
  const std::lock_guard lock(bootstrap::init_lock);
  self->unwatch_nodes(lost);
}
