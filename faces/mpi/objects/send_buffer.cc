// SPDX-License-Identifier: BSD-3-Clause
#include "objects/send_buffer.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "beneath/foreign_call.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

struct Attached {
  char* first = nullptr;  // nullptr: nothing is attached
  size_t bytes = 0;
  void* beneath = nullptr;    // as much memory, which the MPI beneath has; owned
  Request* copies = nullptr;  // in the order of their places: `buffer`, `count` bytes
};

std::mutex lock;  // of all below, and of `partner` of all requests
Attached attached;

bool is_automatic() {
  return attached.first == MPI_BUFFER_AUTOMATIC;
}

bool is_sent(const Request& copy) {
  return __atomic_load_n(&copy.send.is_complete, __ATOMIC_ACQUIRE) != 0;
}

// The first gap of the memory that is large enough.
struct Gap {
  char* place;     // nullptr: there is none
  Request** link;  // to the first copy behind it
};

Gap find_gap(size_t bytes) {
  char* place = attached.first;
  Request** link = &attached.copies;
  if (is_automatic()) return {place, link};
  for (; *link != nullptr; link = &(*link)->next) {
    char* const end = static_cast<char*>((*link)->buffer);
    if (static_cast<size_t>(end - place) >= bytes) return {place, link};
    place = end + (*link)->count;
  }
  const size_t used = static_cast<size_t>(place - attached.first);
  return {attached.bytes - used >= bytes ? place : nullptr, link};
}

void disconnect(Request& copy) {
  if (Request* const original = std::exchange(copy.partner, nullptr)) original->partner = nullptr;
}

// The original of a copy that has been sent gets its end.
void tell_original(Request& copy) {
  Request* const original = copy.partner;
  if (original == nullptr) return;
  original->send.is_cancelled = copy.send.is_cancelled;
  original->send.serial = copy.send.serial;
  disconnect(copy);
  __atomic_store_n(&original->send.is_complete, 1,
                   __ATOMIC_RELEASE);  // pairs with Request::is_complete
}

bool try_to_find_room(size_t bytes) {
  SendBuffer::collect();
  const std::lock_guard guard(lock);
  return attached.first != nullptr && find_gap(bytes + MPI_BSEND_OVERHEAD).place != nullptr;
}

}  // namespace

int SendBuffer::attach(void* memory, size_t bytes) {
  const std::lock_guard guard(lock);
  if (attached.first != nullptr) return MPI_ERR_BUFFER;
  attached.first = static_cast<char*>(memory);
  attached.bytes = is_automatic() ? 0 : bytes;
  return MPI_SUCCESS;
}

void SendBuffer::flush() {
  ::nagaya_llcl_wait(
      [](void*) -> int {
        const std::lock_guard guard(lock);
        for (const Request* copy = attached.copies; copy != nullptr; copy = copy->next)
          if (!is_sent(*copy)) return false;
        return true;
      },
      nullptr, -1);
  collect();
}

bool SendBuffer::detach(void*& memory, size_t& bytes) {
  flush();
  std::unique_lock guard(lock);
  if (attached.first == nullptr) return false;
  const Attached ended = std::exchange(attached, {});
  guard.unlock();
  memory = ended.first;
  bytes = ended.bytes;
  if (ended.beneath == nullptr) return true;
  void* place = nullptr;
  int size = 0;
  call_beneath(beneath.Buffer_detach, static_cast<void*>(&place), &size);
  std::free(ended.beneath);
  return true;
}

void SendBuffer::provide_beneath() {
  const std::lock_guard guard(lock);
  if (attached.first == nullptr || attached.beneath != nullptr) return;
  if (is_automatic()) {
    attached.beneath = std::malloc(1);  // only says that the MPI beneath has been told
    beneath.Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    return;
  }
  const int bytes = static_cast<int>(std::min<size_t>(attached.bytes, INT_MAX));
  attached.beneath = std::malloc(static_cast<size_t>(bytes));
  if (attached.beneath != nullptr) beneath.Buffer_attach(attached.beneath, bytes);
}

bool SendBuffer::has_room(size_t bytes) {
  if (try_to_find_room(bytes)) return true;
  ::nagaya_match_progress();
  return try_to_find_room(bytes);
}

Request* SendBuffer::add_copy(Request& original) {
  const size_t bytes = original.send.bytes + MPI_BSEND_OVERHEAD;
  const std::lock_guard guard(lock);
  const Gap gap = find_gap(bytes);
  if (gap.place == nullptr) return nullptr;
  Request* const copy = Requests::make(RequestKind::kSend, original.communicator);
  if (copy == nullptr) return nullptr;
  copy->buffer = gap.place;
  copy->count = bytes;
  if (is_automatic()) copy->buffer = copy->packed = std::malloc(bytes);
  if (copy->buffer == nullptr) {
    Requests::free(copy);
    return nullptr;
  }
  copy->next = *gap.link;
  *gap.link = copy;
  copy->partner = &original;
  original.partner = copy;
  return copy;
}

void SendBuffer::remove(Request* copy) {
  {
    const std::lock_guard guard(lock);
    disconnect(*copy);
    for (Request** link = &attached.copies; *link != nullptr; link = &(*link)->next)
      if (*link == copy) {
        *link = copy->next;
        break;
      }
  }
  Requests::free(copy);
}

void SendBuffer::collect() {
  Request* sent = nullptr;
  {
    const std::lock_guard guard(lock);
    for (Request** link = &attached.copies; *link != nullptr;) {
      Request* const copy = *link;
      if (!is_sent(*copy)) {
        link = &copy->next;
        continue;
      }
      *link = copy->next;
      tell_original(*copy);
      copy->next = sent;
      sent = copy;
    }
  }
  while (sent != nullptr) Requests::free(std::exchange(sent, sent->next));
}

bool SendBuffer::cancel_copy(Request& original) {
  const std::lock_guard guard(lock);
  Request* const copy = original.partner;
  if (copy == nullptr) return false;
  if (is_sent(*copy)) {
    tell_original(*copy);
    return false;
  }
  original.send.is_complete = 0;
  if (::nagaya_match_cancel_send(&copy->send) != 0)
    original.send.is_complete = 1;  // it is being received
  return true;
}

void SendBuffer::settle(Request& original) {
  const std::lock_guard guard(lock);
  if (original.partner != nullptr && is_sent(*original.partner)) tell_original(*original.partner);
}

void SendBuffer::forget_copy(Request& original) {
  const std::lock_guard guard(lock);
  if (original.partner != nullptr) disconnect(*original.partner);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
