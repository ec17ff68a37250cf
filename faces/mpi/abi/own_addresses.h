// SPDX-License-Identifier: BSD-3-Clause
// own_addresses.h - handles of own requests and messages (contract.h) of interfaces whose handles
// are pointers: the addresses of our objects.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nagaya::mpi {

// The kind, in bits 26 to 29, is one that MPICH's numbers for Fortran do not have; Open MPI counts
// from 0.
inline constexpr int kFirstOwnFortran = 1 << 30;
inline constexpr uint32_t kOwnRequestsMax = 1 << 26;

inline uintptr_t key_of(const void* handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

template <class Handle>
Handle own_handle(uint32_t /*index*/, void* object) {
  return static_cast<Handle>(object);
}
inline size_t index_of_own(const void* handle, const void* first, size_t object_bytes) {
  return (key_of(handle) - key_of(first)) / object_bytes;
}

}  // namespace nagaya::mpi
