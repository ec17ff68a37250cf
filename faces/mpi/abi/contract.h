// SPDX-License-Identifier: BSD-3-Clause
// contract.h - what abi/<abi>/abi.h defines, in nagaya::mpi::<abi>. The sources are compiled once
// with each.
//
// - kAbiName: for messages.
// - kChecksData: whether MPIs of this interface refuse data that the standard forbids and that do
// no
//   harm here, so that programs may rely on the error: a block that is sent from where it is
//   received, a broadcast block that is shorter than its receiver's, a message that ends within an
//   element. (MPICH does; its test suite expects it. Open MPI does not.)
// - is_interface_of(): whether a loaded library has this interface, by its soname and symbols.
// - MPI_Comm, MPI_Status and the other types of functions.def, as wide as in the MPI's mpi.h.
// - MPI_COMM_WORLD and the standard's other constants, by its names. Some are variables: the MPI
//   tells them only after MPI_Init. So no `case`, no array size, no static table is made of a
//   handle.
// - load_constants(): sets those variables. Called once, after MPI_Init, before any other function
//   of ours looks at a constant.
// - set_status(): stores all of a status but MPI_ERROR.
// - is_basic(): true if a type is known, without a call beneath, as elements of `bytes` bytes that
//   lie close together. False for all others: they are looked up (Type::find).
// - key_of(): any handle as a key for HandleTable.
//
// Own requests and messages (objects/requests.h) are objects of one array, and differ from those of
// the MPI beneath by their handle alone:
//
// - kHeadBytes: bytes at the beginning of an object that the MPI beneath may read as ints. All of
//   them are the object's number for Fortran.
// - kOwnRequestsMax: how many objects have handles.
// - kFirstOwnFortran: Fortran's number of the first object. The MPI beneath gives its own no such
//   numbers.
// - own_handle<Handle>(): the handle, MPI_Request or MPI_Message, of the object with this index.
// - index_of_own(): the index of a handle's object, at least kOwnRequestsMax if it is the MPI's
//   beneath; `first` is the array, or nullptr as long as it is empty.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "abi.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

template <class Handle>
concept IsHandle = requires(Handle handle, void* object) {
  { key_of(handle) } -> std::same_as<uintptr_t>;
};
template <class Handle>
concept IsOwnHandle = IsHandle<Handle> && requires(Handle handle, void* object) {
  { own_handle<Handle>(uint32_t{}, object) } -> std::same_as<Handle>;
  { index_of_own(handle, object, size_t{}) } -> std::same_as<size_t>;
};
static_assert(IsOwnHandle<MPI_Request> && IsOwnHandle<MPI_Message>);
static_assert(IsHandle<MPI_Comm> && IsHandle<MPI_Datatype> && IsHandle<MPI_Op>);
static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == sizeof(void*) &&
              sizeof(MPI_Fint) == sizeof(int));
static_assert(kHeadBytes % sizeof(int32_t) == 0);

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
