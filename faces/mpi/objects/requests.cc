// SPDX-License-Identifier: BSD-3-Clause
#include "objects/requests.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "objects/job.h"
#include "task/space/spin_lock.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// Addresses for all requests; memory for so many at a time.
constexpr size_t kRangeBytes = size_t{1} << 30, kStepBytes = size_t{1} << 18;
constexpr size_t kMost = std::min<size_t>(kRangeBytes / sizeof(Request), kOwnRequestsMax);

task::SpinLock lock;  // of all below
char* range = nullptr;
size_t usable_bytes = 0, made = 0;
Request* free_ones = nullptr;
Request* orphans = nullptr;

std::unique_lock<task::SpinLock> locked() {
  return Job::has_threads() ? std::unique_lock(lock) : std::unique_lock<task::SpinLock>();
}

Request* at(size_t index) { return reinterpret_cast<Request*>(range + index * sizeof(Request)); }
uint32_t index_of(const Request* request) {
  return static_cast<uint32_t>(request - reinterpret_cast<Request*>(range));
}

// Returns memory that no request has had. nullptr: none.
Request* take_new() {
  if (range == nullptr) {
    void* const all = ::mmap(nullptr, kRangeBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    range = static_cast<char*>(all);
  }
  if (made == kMost) return nullptr;
  if ((made + 1) * sizeof(Request) > usable_bytes) {
    if (::mprotect(range + usable_bytes, kStepBytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    usable_bytes += kStepBytes;
  }
  Request* const request = at(made);
  for (int32_t& word : request->head)
    word = fortran_of_request(request_of(static_cast<uint32_t>(made), request), static_cast<uint32_t>(made));
  ++made;
  return request;
}

}  // namespace

bool Request::is_complete() {
  switch (kind) {
    case RequestKind::kSend:
      return __atomic_load_n(&send.is_complete, __ATOMIC_ACQUIRE) != 0;
    case RequestKind::kReceive:
      return __atomic_load_n(&receive.is_complete, __ATOMIC_ACQUIRE) != 0;
    case RequestKind::kCollective:
      return __atomic_load_n(&collective.is_complete, __ATOMIC_ACQUIRE) != 0;
    case RequestKind::kOther:
      return part->is_over(error);
    default:
      return true;
  }
}

Request* Requests::make(RequestKind kind, Communicator* communicator) {
  const auto guard = locked();
  if (free_ones == nullptr) {
    free_ones = take_new();
    if (free_ones == nullptr) return nullptr;
    free_ones->next = nullptr;
  }
  Request* const request = free_ones;
  free_ones = request->next;
  std::memset(static_cast<void*>(&request->kind), 0, sizeof *request - offsetof(Request, kind));
  request->kind = kind;
  request->communicator = communicator;
  if (communicator != nullptr) communicator->hold();
  return request;
}

void Requests::free(Request* request) {
  if (request->communicator != nullptr) request->communicator->release();
  if (request->type != nullptr) request->type->release();
  std::free(request->runs);
  std::free(request->packed);
  delete request->part;
  const auto guard = locked();
  request->next = free_ones;
  free_ones = request;
}

MPI_Request Requests::handle_of(Request* request) { return request_of(index_of(request), request); }

Request* Requests::find(MPI_Request handle) {
  const uint32_t index = index_of_request(handle);
  return index < made ? at(index) : nullptr;
}

void Requests::abandon(Request* request) {
  request->is_orphan = true;
  const auto guard = locked();
  request->next = orphans;
  orphans = request;
}

void Requests::free_ended_orphans() {
  Request* ended = nullptr;
  {
    const auto guard = locked();
    for (Request** link = &orphans; *link != nullptr;) {
      Request* const request = *link;
      if (!request->is_complete()) {
        link = &request->next;
        continue;
      }
      *link = request->next;
      request->next = ended;
      ended = request;
    }
  }
  while (ended != nullptr) {
    Request* const next = ended->next;
    free(ended);
    ended = next;
  }
}

void Requests::drain() {
  ::nagaya_llcl_wait(
      [](void*) -> int {
        free_ended_orphans();
        return orphans == nullptr;
      },
      nullptr, -1);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
