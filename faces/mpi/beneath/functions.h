// SPDX-License-Identifier: BSD-3-Clause
// functions.h - the functions of the MPI beneath, which functions.def lists.
#pragma once

#include "abi/contract.h"
#include "entry.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

struct Functions {
#define EXPORTED(result, name, arguments) result(*name) arguments = nullptr;
#define EXTENSION EXPORTED
#define CALLED EXPORTED
#include "functions.def"
#undef EXPORTED
#undef EXTENSION
#undef CALLED
};

// Stands for each function that the MPI beneath lacks.
int unsupported();
template <class Function>
bool is_supported(Function function) {
  return reinterpret_cast<Address>(function) != reinterpret_cast<Address>(unsupported);
}

// The functions of the loaded MPI. One that it lacks returns MPI_ERR_UNSUPPORTED_OPERATION.
extern Functions beneath;

// Returns the name of the function of ours that the thread has called last; nullptr: none.
const char* last_call();

// Returns the one for `Count` of a function with int counts and its twin X_c with MPI_Count.
template <class Count, class Small, class Large>
auto of_count(Small small, Large large) {
  if constexpr (sizeof(Count) == sizeof(int))
    return small;
  else
    return large;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
