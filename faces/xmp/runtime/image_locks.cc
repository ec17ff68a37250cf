// SPDX-License-Identifier: BSD-3-Clause
// image_locks.cc - the directives lock and unlock. Each lock of a coarray is the lock of a window
// without memory, which grants it in the order of the requests.
#include <errno.h>

#include <algorithm>
#include <string>

#include "faces/xmp/runtime/coarrays.h"
#include "faces/xmp/runtime/failure.h"
#include "xmp/xmp.h"

namespace nagaya::xmp {
namespace {

// One lock at one process.
struct Lock {
  const char* where;
  nagaya_xmp_coarray_state& coarray;
  size_t number;
  uint32_t rank;

  nagaya_window* window() const { return coarray.locks[number]; }

  // Each returns 0, -EPROTO (lock: the caller has it already; unlock: it has not), or an error.
  int lock() const {
    if (coarray.window != nullptr)
      return nagaya_window_lock(window(), NAGAYA_WINDOW_EXCLUSIVE, rank, 0);
    if (coarray.held_alone[number]) return -EPROTO;
    coarray.held_alone[number] = true;
    return 0;
  }
  // -EAGAIN: another process has it.
  int try_lock() const {
    return coarray.window != nullptr ? nagaya_window_try_lock(window(), rank) : lock();
  }
  int unlock() const {
    if (coarray.window != nullptr) return nagaya_window_unlock(window(), rank);
    if (!coarray.held_alone[number]) return -EPROTO;
    coarray.held_alone[number] = false;
    return 0;
  }
  // Whether any image has it.
  bool is_locked() const {
    if (coarray.window == nullptr) return coarray.held_alone[number];
    const int answer = nagaya_window_is_locked(window(), rank);
    check(std::min(answer, 0));
    return answer == 1;
  }
  // Stores a status that is an error of the program; it fails if nobody asks for the status.
  void refuse(int* status, int value, const char* text) const {
    if (status == nullptr) fail(where, "lock " + coarray.name + ' ' + text);
    *status = value;
  }
  void check(int error) const {
    if (error != 0) fail(where, "lock " + coarray.name + " has failed: " + reason_of(error));
  }
};

Lock lock_of(const char* where, nagaya_xmp_coarray& coarray, const volatile void* lock,
             long image) {
  const nagaya_xmp_coarray_state& state = state_of(where, coarray);
  // Below `own` it is a large number, too.
  const auto number = static_cast<size_t>(static_cast<const volatile char*>(lock) - coarray.own) /
                      sizeof(xmp_lock_t);
  if (number >= state.lock_count)
    fail(where, "lock " + state.name + " has " + std::to_string(state.lock_count) +
                    " elements, and none with this index");
  return {where, *coarray.state, number, state.rank_of(where, image)};
}

}  // namespace
}  // namespace nagaya::xmp

void nagaya_xmp_lock(const char* where, nagaya_xmp_coarray* coarray, const volatile void* lock,
                     long image, int* acquired, int* status) {
  const nagaya::xmp::Lock wanted = nagaya::xmp::lock_of(where, *coarray, lock, image);
  if (status != nullptr) *status = XMP_STAT_SUCCESS;
  const int error = acquired == nullptr ? wanted.lock() : wanted.try_lock();
  if (acquired != nullptr) *acquired = error == 0;
  if (error == -EPROTO)
    wanted.refuse(status, XMP_STAT_LOCKED, "is locked by this image already");
  else if (acquired == nullptr || error != -EAGAIN)
    wanted.check(error);
}

void nagaya_xmp_unlock(const char* where, nagaya_xmp_coarray* coarray, const volatile void* lock,
                       long image, int* status) {
  const nagaya::xmp::Lock held = nagaya::xmp::lock_of(where, *coarray, lock, image);
  if (status != nullptr) *status = XMP_STAT_SUCCESS;
  const int error = held.unlock();
  if (error != -EPROTO) return held.check(error);
  if (held.is_locked())
    held.refuse(status, XMP_STAT_LOCKED_OTHER_IMAGE, "is locked by another image");
  else
    held.refuse(status, XMP_STAT_UNLOCKED, "is not locked");
}
