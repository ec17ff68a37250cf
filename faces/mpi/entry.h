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

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nagaya::mpi {

using Address = void*;

inline constexpr const char* kExported[] = {
#define EXPORTED(result, name, arguments) "MPI_" #name,
#define EXTENSION(result, name, arguments) "MPIX_" #name,
#define CALLED(result, name, arguments)
#include "functions.def"
#undef EXPORTED
#undef EXTENSION
#undef CALLED
};
inline constexpr size_t kExportedCount = std::size(kExported);
using Entries = Address[kExportedCount];

// How much of a job's communication the face carries.
enum class Share : uint8_t {
  kNothing,
  kWindows,  // our components for Open MPI carry messages and collectives
  kAll
};

// One binary interface of MPI.
struct Abi {
  const char* name;
  // Whether a loaded library, with this soname and handle of dlopen(3), has this interface.
  bool (*is_interface_of)(std::string_view soname, void* library);
  // Looks up the functions of the library `mpi`, a handle of dlopen(3), and stores the function for
  // each exported name: the face's, if it belongs to the share, or one that calls the library's.
  // `share` is not kNothing.
  void (*fill)(void* mpi, Share share, Entries& entries);
};

namespace mpich {
extern const Abi abi;
}
namespace openmpi {
extern const Abi abi;
}
namespace standard {
extern const Abi abi;
}

}  // namespace nagaya::mpi
