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
struct KeptMembership {
  Membership* membership = nullptr;

  ~KeptMembership() {
    if (membership != nullptr) membership->leave_launcher();
  }
} kept;
// Equals kept.membership between the first init and the last finalize, else nullptr. One
// collective runs at a time: there is no lock.
Membership* membership = nullptr;
uint32_t inits = 0;  // that no finalize has undone

// Returns the membership; nullptr: outside of init and finalize, or in a forked child, which has no
// part in the job.
Membership* joined() {
  return task::own_record() != nullptr ? membership : nullptr;
}

// For a call where joined() is nullptr. Returns -ESRCH.
[[gnu::cold]] int refuse_stranger() {
  if (task::own_record() == nullptr) return task::refuse_outside();
  return task::refuse(-ESRCH, kept.membership == nullptr
                                  ? "call nagaya_comm_init() first"
                                  : "the last nagaya_comm_finalize() has ended this process's part "
                                    "in the job: call nagaya_comm_init() again first");
}

// Returns 0, or throws the error of a collective with a text that says what the job has lost.
int result_of(const Membership& self, int error) {
  if (error == 0) return 0;
  throw base::Error(error, self.describe_loss());
}

int init() {
  llcl::Endpoint* const endpoint = llcl::Endpoint::own();
  if (endpoint == nullptr) return task::refuse_outside();
  const std::lock_guard lock(init_lock);  // a forked child may have a copy that is locked
  if (kept.membership == nullptr) kept.membership = new Membership(*endpoint);
  membership = kept.membership;
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
  kept.membership->leave_launcher();
  return result_of(*kept.membership, error);
}

}  // namespace
}  // namespace nagaya::bootstrap

using namespace nagaya;
using bootstrap::joined;
using bootstrap::Membership;
using bootstrap::refuse_stranger;
using bootstrap::result_of;
using task::refuse;

int nagaya_comm_init(void) {
  return task::guarded(bootstrap::init);
}

int nagaya_comm_finalize(void) {
  return joined() == nullptr ? refuse_stranger() : task::guarded(bootstrap::finalize);
}

int64_t nagaya_comm_size(void) {
  const Membership* const self = joined();
  return self == nullptr ? refuse_stranger() : int64_t{self->world().size};
}

int64_t nagaya_comm_rank(void) {
  const Membership* const self = joined();
  return self == nullptr ? refuse_stranger() : int64_t{self->rank()};
}

int64_t nagaya_comm_nodes(void) {
  const Membership* const self = joined();
  return self == nullptr ? refuse_stranger() : int64_t{self->world().nodes};
}

int64_t nagaya_comm_node(void) {
  const Membership* const self = joined();
  return self == nullptr ? refuse_stranger() : int64_t{self->world().node};
}

int nagaya_comm_process(int64_t rank, nagaya_process* out) {
  const Membership* const self = joined();
  if (self == nullptr) return refuse_stranger();
  if (out == nullptr) return refuse(-EINVAL, "the address of the process is NULL");
  if (self->world().tables.process_of(rank, *out) == 0) return 0;
  return refuse(-EINVAL, "there is no rank %lld: the job has %u", static_cast<long long>(rank),
                self->world().size);
}

int64_t nagaya_comm_rank_of(nagaya_process process) {
  const Membership* const self = joined();
  if (self == nullptr) return refuse_stranger();
  const int64_t rank = self->world().tables.rank_of(process);
  if (rank >= 0) return rank;
  return refuse(-EINVAL, "no process of the job is task %u of node %u", process.task, process.node);
}

int nagaya_comm_barrier(void) {
  Membership* const self = joined();
  return self == nullptr ? refuse_stranger()
                         : task::guarded([&] { return result_of(*self, self->barrier()); });
}

int nagaya_comm_allgather(const void* own, size_t bytes, void* all) {
  Membership* const self = joined();
  if (self == nullptr) return refuse_stranger();
  if ((own == nullptr || all == nullptr) && bytes != 0)
    return refuse(-EINVAL, "an address of the allgather is NULL");
  return task::guarded([&] { return result_of(*self, self->allgather(own, bytes, all)); });
}

int nagaya_comm_watch_nodes(void (*lost)(int64_t rank, int error)) {
  Membership* const self = joined();
  if (self == nullptr) return refuse_stranger();
  const std::lock_guard lock(bootstrap::init_lock);
  return lost == nullptr ? refuse(-EINVAL, "the function to be called is NULL")
                         : self->watch_nodes(lost);
}

void nagaya_comm_unwatch_nodes(void (*lost)(int64_t rank, int error)) {
  Membership* const self = joined();
  if (self == nullptr) return;
  const std::lock_guard lock(bootstrap::init_lock);
  self->unwatch_nodes(lost);
}
