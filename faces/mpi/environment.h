// SPDX-License-Identifier: BSD-3-Clause
// environment.h - which messages of an MPI are ours: NAGAYA_MPI, and what follows from it for the
// environment of a task. An environment is strings NAME=VALUE.
//
//   NAGAYA_MPI   of an MPI that our components fit (faces/openmpi)   of any other
//   off          its own                                             its own
//   local        components, in a job on one node                    the face: what is in a space
//   on           components, between nodes, too                      as with local
//   not set      the face, if the task is given it                   as with local
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nagaya::mpi {

inline constexpr std::string_view kFaceLibrary = "libnagaya-mpi.so.0";

enum class Reach { kNone, kNode, kJob };

// Returns what NAGAYA_MPI says, `default_reach` where it is not set. Throws Error -EINVAL: it is
// none of the three words.
Reach reach_in(const std::vector<std::string>& environment, Reach default_reach);

// Whether the face knows the binary interface of an MPI whose library has this name (libmpi.so.12).
bool is_known_library(std::string_view name);

// Preloads the face into the program that gets this environment, unless NAGAYA_MPI is off: behind
// the libraries of LD_PRELOAD that are there, among which may be tools. The face takes itself out
// again (preload.cc), so that processes that are no tasks do not inherit it. Throws Error.
void preload_face(std::vector<std::string>& environment);

}  // namespace nagaya::mpi
