// SPDX-License-Identifier: BSD-3-Clause
// basic_types.h - finds the size of a predefined datatype of Open MPI by its address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nagaya::mpi::openmpi {

// An open-addressed table of addresses. Filled once, then only read.
class BasicTypes {
 public:
  // Returns 0 if it has no such type.
  size_t bytes_of(uintptr_t type) const {
    for (size_t n = slot_of(type);; n = (n + 1) % kSlots) {
      if (slots_[n].type == type) return slots_[n].bytes;
      if (slots_[n].type == 0) return 0;
    }
  }
  void insert(uintptr_t type, size_t bytes) {
    size_t n = slot_of(type);
    while (slots_[n].type != 0 && slots_[n].type != type) n = (n + 1) % kSlots;
    slots_[n] = {type, bytes};
  }

 private:
  static constexpr size_t kSlots = 256;  // at least twice as many as Open MPI has predefined types
  static size_t slot_of(uintptr_t type) { return type * 0x9e3779b97f4a7c15 >> 56; }

  struct Slot {
    uintptr_t type;  // 0: empty
    size_t bytes;
  };
  Slot slots_[kSlots]{};
};

}  // namespace nagaya::mpi::openmpi
