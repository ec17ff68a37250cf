// SPDX-License-Identifier: BSD-3-Clause
// coarrays.h - the declared coarrays. A coarray is the program's variable. Processes of the same
// machine find each other's by address; the window (nagaya/window.h) gives these addresses, and
// carries accesses to other machines.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "faces/xmp/runtime/process_set.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/window.h"

struct nagaya_xmp_coarray_state {
  std::string name;
  char* own;
  unsigned long bytes;
  std::vector<long> extents;              // of the codimensions but the last
  nagaya::xmp::ProcessSet* on = nullptr;  // of `coarray on`; nullptr: the executing nodes
  nagaya_window* window = nullptr;        // nullptr: the caller is alone
  std::vector<nagaya_window*> locks;      // of a coarray of locks: one for each
  size_t lock_count = 0;
  std::vector<bool> held_alone;  // the locks, if the caller is alone
  // By the set of images: what nagaya_xmp_coarray::offset points to.
  std::map<const nagaya::xmp::ProcessSet*, std::vector<long>> offsets;
  std::vector<nagaya_xmp_coarray*> descriptors;  // one for each unit that declares the coarray

  const nagaya::xmp::ProcessSet& images() const;
  // Returns the rank in the job of an image; the program fails if there is none.
  uint32_t rank_of(const char* where, long image) const;
};

namespace nagaya::xmp {

// Returns the coarray's state; the program fails if it has not been declared yet.
nagaya_xmp_coarray_state& state_of(const char* where, const nagaya_xmp_coarray& coarray);
// Called when the executing nodes change, and in a forked child, where the images are copies:
// coarrays must find their images anew.
void forget_images();
// Collective, at the program's end: waits until all processes have come, so nobody loses memory
// that it still uses.
void close_coarrays();
// Opens a window over memory of every process of the job. nullptr: the caller is alone.
nagaya_window* open_window(const char* where, void* own, unsigned long bytes);

}  // namespace nagaya::xmp
