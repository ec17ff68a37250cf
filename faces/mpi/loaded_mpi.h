// SPDX-License-Identifier: BSD-3-Clause
// loaded_mpi.h - which of the loaded libraries is the MPI that a caller would have reached without
// us. Several may be loaded: MPICH 5 has one for each of two binary interfaces.
#pragma once

#include <link.h>

#include <string>

#include "entry.h"

namespace nagaya::mpi {

class LoadedMpi {
 public:
  // `caller`: an address in the object that calls a function of MPI. The MPI is the first one
  // behind ours in the global scope; else, loaded with RTLD_LOCAL, the first one among the
  // libraries that the caller needs.
  explicit LoadedMpi(const void* caller);

  bool is_there() const { return library_ != nullptr; }
  void* library() const { return library_; }
  // nullptr: an MPI that we do not know.
  const Abi* abi() const { return abi_; }

  // Returns nullptr if the MPI has no such function.
  void* function(const std::string& name) const;
  // Returns the function that the caller would have reached if it belongs to another object than
  // the MPI: to a tool. Else nullptr.
  void* function_of_tool(const std::string& name) const;

 private:
  void* find(const char* name) const;

  void* const scope_;  // of the caller; nullptr: unknown
  const link_map* object_ = nullptr;
  void* library_ = nullptr;  // a handle of dlopen(3)
  const Abi* abi_ = nullptr;
};

}  // namespace nagaya::mpi
