// SPDX-License-Identifier: BSD-3-Clause
// lone_ranks.h - finds ranks that would each be alone in a job of one rank, without an error,
// because they and their launcher speak different languages:
//
//   Open MPI                          asks its launcher over PMIx
//   MPICH, Intel MPI, MVAPICH         ask over PMI-1 (or a PMI library that they are linked with)
//   mpirun of Open MPI, prterun       answer over PMIx
//   mpiexec of MPICH or Intel (hydra) answers over PMI-1
//   srun                              answers over what its --mpi says
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "task/load/program.h"

namespace nagaya::tools {

struct Guess;
struct LaunchedJob;

// Prints a line if the program, one rank of the launched job, would be alone, as far as files and
// the variables of its launchers tell. Only one rank of the job on a node does so, for its first
// program whose MPI is found: a variable keeps those that this one starts from being examined.
void tell_of_lone_rank(task::ProgramText& text, const Guess& guess, const LaunchedJob& job);
// Returns that line; "": the rank finds the others; nullopt: nothing is known, or not to be told.
std::optional<std::string> lone_rank(const task::ProgramText& text, const LaunchedJob& job);

// Prints a line if a rank that has no launcher's variables any more executes an MPI program, which
// is then alone. Only rank 1 of the job prints it.
void tell_of_lost_variables(const task::ProgramText& text, const Guess& guess, int64_t rank);

// Prints a line if the MPI of the program, whose ranks `nagaya run` starts, asks over PMIx: there
// is no libpmix to answer it.
void tell_of_missing_pmix(const std::vector<std::string>& command);

// Prints a line if a launcher has started this `nagaya run` several times. Only one of them on a
// node does so.
void tell_of_lone_job(const LaunchedJob& job);

}  // namespace nagaya::tools
