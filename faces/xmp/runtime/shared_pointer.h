// SPDX-License-Identifier: BSD-3-Clause
// shared_pointer.h - the shared pointer of a file: a number at the first of the nodes that have
// opened the file, which all of them read and change atomically.
#pragma once

#include <cstdint>
#include <functional>

#include "faces/xmp/runtime/process_set.h"
#include "nagaya/window.h"

namespace nagaya::xmp {

class SharedPointer {
 public:
  // Collective among the members of the set, and so is the end. The value is 0.
  explicit SharedPointer(ProcessSet& set);
  ~SharedPointer();
  SharedPointer(const SharedPointer&) = delete;

  int64_t load() const;
  void store(int64_t value);
  // Collective: stores behind all accesses of the members before, and before those behind.
  void store_all(int64_t value);
  // Replaces the value by next(value), in one step; returns the value from before.
  int64_t update(const std::function<int64_t(int64_t)>& next);

 private:
  int64_t fetch(const int64_t* operand) const;

  ProcessSet& set_;
  nagaya_window* window_ = nullptr;  // nullptr: the caller is alone
  int64_t alone_ = 0;
};

// Waits until all members of the set have called it.
void wait_for_all(ProcessSet& set);

}  // namespace nagaya::xmp
