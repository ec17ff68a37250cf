// SPDX-License-Identifier: BSD-3-Clause
// foreign_call.h - calls of the MPI beneath that may wait there.
#pragma once

#include <utility>

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// While one exists, this thread may wait in the MPI beneath.
class ForeignCall {
 public:
  ForeignCall() = default;
  ~ForeignCall() {}
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;
};

template <class Function, class... Arguments>
int call_beneath(Function function, Arguments... arguments) {
  const ForeignCall call;
  return function(arguments...);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
