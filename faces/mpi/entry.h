// SPDX-License-Identifier: BSD-3-Clause
// entry.h - which MPI is beneath, and which functions MPI_X and PMPI_X jump to.
//
//   program ──► MPI_Send ──► jump ──► send() for this MPI's ABI ──► match.h
//                               └──► a tool's MPI_Send, which calls PMPI_Send ──► jump ──► send()
//                               └──► the MPI beneath, if the function is not ours
//
// Nothing happens before the first call of an exported function: only then is an MPI certainly
// loaded.
#pragma once

#include <array>
#include <cstddef>

namespace nagaya::mpi {

using Address = void*;

inline constexpr const char* kExported[] = {
#define EXPORTED(result, name, arguments) #name,
#define CALLED(result, name, arguments)
#include "functions.def"
#undef EXPORTED
#undef CALLED
};
inline constexpr size_t kExportedCount = std::size(kExported);
using Entries = Address[kExportedCount];

// One binary interface of MPI.
struct Abi {
  const char* name;
  // Whether a shared library of this name (as in its path, without folders) has this interface.
  bool (*has_name)(const char* name);
  // Looks up the functions of the library `mpi`, a handle of dlopen(3), and stores the function for
  // each exported name: the face's, else the library's.
  void (*fill)(void* mpi, Entries& entries);
};

namespace mpich {
extern const Abi abi;
}

}  // namespace nagaya::mpi
