// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/shared_pointer.h"

#include <utility>

#include "faces/xmp/runtime/failure.h"
#include "nagaya/coll.h"

namespace nagaya::xmp {
namespace {

constexpr uint32_t kOwner = 0;

void check(int error) {
  if (error != 0) fail("", "the shared pointer of a file has failed: " + reason_of(error));
}

// Windows of coarrays have contexts from NAGAYA_TEAMS_WINDOWS / 2 on (coarrays.cc).
uint64_t next_context(ProcessSet& set) {
  return set.next_array_name() % (NAGAYA_TEAMS_WINDOWS / 2);
}

}  // namespace

void wait_for_all(ProcessSet& set) {
  if (set.size() == 1) return;
  nagaya_collective barrier{};
  barrier.kind = NAGAYA_BARRIER;
  check(nagaya_coll_run(&set.team_of_next(""), &barrier));
}

SharedPointer::SharedPointer(ProcessSet& set) : set_(set) {
  if (set.size() == 1) return;
  nagaya_window_memory memory{};
  memory.kind = NAGAYA_WINDOW_ALLOCATE;
  memory.bytes = set.own_index() == kOwner ? sizeof(int64_t) : 0;
  memory.unit = 1;
  check(nagaya_window_open(next_context(set), set.members(), &memory, 0, &window_));
  check(nagaya_window_lock_all(window_, NAGAYA_WINDOW_NO_CHECK));
}

SharedPointer::~SharedPointer() {
  if (window_ == nullptr) return;
  check(nagaya_window_unlock_all(window_));
  check(nagaya_window_close(window_));
}

// Stores *operand, if that is no null pointer; returns the value from before.
int64_t SharedPointer::fetch(const int64_t* operand) const {
  int64_t before = 0;
  check(
      nagaya_window_fetch_and_op(window_, operand, &before, kOwner, 0, NAGAYA_ELEMENT_INT64,
                                 operand == nullptr ? NAGAYA_REDUCE_NO_OP : NAGAYA_REDUCE_REPLACE));
  check(nagaya_window_flush(window_, kOwner));
  return before;
}

int64_t SharedPointer::load() const {
  return window_ == nullptr ? alone_ : fetch(nullptr);
}

void SharedPointer::store(int64_t value) {
  if (window_ == nullptr)
    alone_ = value;
  else
    fetch(&value);
}

void SharedPointer::store_all(int64_t value) {
  wait_for_all(set_);
  if (set_.own_index() == kOwner) store(value);
  wait_for_all(set_);
}

int64_t SharedPointer::update(const std::function<int64_t(int64_t)>& next) {
  if (window_ == nullptr) return std::exchange(alone_, next(alone_));
  for (int64_t expected = load();;) {
    const int64_t desired = next(expected);
    int64_t before = 0;
    check(nagaya_window_compare_and_swap(window_, &desired, &expected, &before, kOwner, 0,
                                         NAGAYA_ELEMENT_INT64));
    check(nagaya_window_flush(window_, kOwner));
    if (before == expected) return before;
    expected = before;
  }
}

}  // namespace nagaya::xmp
