// SPDX-License-Identifier: BSD-3-Clause
#include "objects/requests.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "objects/job.h"
#include "objects/send_buffer.h"
#include "task/space/spin_lock.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// Addresses for all requests; memory for so many at a time.
constexpr size_t kRangeBytes = size_t{1} << 30, kStepBytes = size_t{1} << 18;
constexpr size_t kMost = std::min<size_t>(kRangeBytes / sizeof(Request), kOwnRequestsMax);

task::SpinLock lock;  // of all requests' memory and lists
size_t usable_bytes = 0;
Request* free_ones = nullptr;
Request* orphans = nullptr;

std::unique_lock<task::SpinLock> locked() {
  return Job::has_threads() ? std::unique_lock(lock) : std::unique_lock<task::SpinLock>();
}

// Returns how many bytes, from `kind` on, a request of this kind uses. Requests of messages are
// made and freed in numbers: each line of memory counts.
size_t used_bytes(RequestKind kind) {
  constexpr size_t kCommon = offsetof(Request, send) - offsetof(Request, kind);
  switch (kind) {
    case RequestKind::kSend:
      return kCommon + sizeof(nagaya_send);
    case RequestKind::kReceive:
      return kCommon + sizeof(nagaya_receive);
    default:
      return sizeof(Request) - offsetof(Request, kind);
  }
}

}  // namespace

bool Request::is_complete() {
  switch (kind) {
    case RequestKind::kSend:
      if (__atomic_load_n(&send.is_complete, __ATOMIC_ACQUIRE) != 0) return true;
      if (mode == Mode::kBuffered) SendBuffer::settle(*this);
      return __atomic_load_n(&send.is_complete, __ATOMIC_ACQUIRE) != 0;
    case RequestKind::kReceive:
      return __atomic_load_n(&receive.is_complete, __ATOMIC_ACQUIRE) != 0;
    case RequestKind::kCollective:
      return __atomic_load_n(&collective.is_complete, __ATOMIC_ACQUIRE) != 0;
    case RequestKind::kExchange:
      return exchange.send->is_complete() && exchange.receive->is_complete();
    case RequestKind::kOther:
      return part->is_over(error);
    default:
      return true;
  }
}

// Returns memory that no request has had. nullptr: none.
Request* Requests::take_new() {
  if (first_ == nullptr) {
    void* const all =
        ::mmap(nullptr, kRangeBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    first_ = static_cast<Request*>(all);
  }
  const size_t index = made_.load(std::memory_order_relaxed);
  if (index == kMost) return nullptr;
  if ((index + 1) * sizeof(Request) > usable_bytes) {
    char* const next = reinterpret_cast<char*>(first_) + usable_bytes;
    if (::mprotect(next, kStepBytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
    usable_bytes += kStepBytes;
  }
  Request* const request = first_ + index;
  std::fill(std::begin(request->head), std::end(request->head), fortran_of(request));
  made_.store(index + 1, std::memory_order_release);  // pairs with at
  return request;
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
  std::memset(static_cast<void*>(&request->kind), 0, used_bytes(kind));
  request->kind = kind;
  request->communicator = communicator;
  if (communicator != nullptr) communicator->hold();
  return request;
}

void Requests::free(Request* request) {
  if (request->kind == RequestKind::kExchange) {
    if (request->exchange.send != nullptr) free(request->exchange.send);
    if (request->exchange.receive != nullptr) free(request->exchange.receive);
  } else if (request->mode == Mode::kBuffered) {
    SendBuffer::forget_copy(*request);
  }
  delete request->part;  // uses the communicator
  if (request->communicator != nullptr) request->communicator->release();
  if (request->type != nullptr) request->type->release();
  std::free(request->runs);
  std::free(request->packed);
  const auto guard = locked();
  request->kind = RequestKind::kFree;
  request->next = free_ones;
  free_ones = request;
}

void Requests::abandon(Request* request) {
  request->is_orphan = true;
  const auto guard = locked();
  request->next = orphans;
  orphans = request;
}

// Without the lock, which free() takes, and the end of a part's work may, too.
void Requests::free_ended_orphans() {
  Request* some = nullptr;
  {
    const auto guard = locked();
    some = std::exchange(orphans, nullptr);
  }
  while (some != nullptr) {
    Request* const request = std::exchange(some, some->next);
    if (request->is_complete())
      free(request);
    else
      abandon(request);
  }
}

void Requests::drain() {
  ::nagaya_llcl_wait(
      [](void*) -> int {
        for (Request* one = orphans; one != nullptr; one = one->next)
          if (!one->is_complete()) return false;
        return true;
      },
      nullptr, -1);
  free_ended_orphans();
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
