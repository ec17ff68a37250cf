// SPDX-License-Identifier: BSD-3-Clause
// program_role.h - guesses, from a program's file and its arguments, what it is for its rank. The
// guess decides where the program runs (as a task or outside of the space) and which number its
// task gets; messages arrive either way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "task/load/program.h"

namespace nagaya::tools {

enum class Role {
  kOther,          // ls, mkdir, sed: it starts no program of the rank, and uses no MPI
  kWrapper,        // env, numactl, timeout, a shell: it starts the rank's program
  kCommunicating,  // it uses an MPI or libnagaya, or loads libraries at run time (Python, R, ...)
  kOverseer        // strace, gdb, perf, mpirun: what it starts must be ordinary processes
};

struct Guess {
  Role role = Role::kOther;
  std::string mpi_program;  // itself, or a program that it seems to start, if that needs an MPI
  // Its dynamic linker, if its process may load an MPI: it needs one, or loads libraries at run
  // time.
  std::string linker_of_mpi = {};
};

// `program` is an ELF file, no script. `environment`: PATH and LD_LIBRARY_PATH count.
Guess guess_role(const std::string& program, const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment);
inline Guess guess_role(const task::ProgramText& text) {
  return guess_role(text.program, text.arguments, text.environment);
}

// Returns true for `nagaya exec PROGRAM ...`. In a process of a rank it starts the rank's program.
bool is_nagaya_exec(const std::string& program, const std::vector<std::string>& arguments);

// Returns the number for the rank's task: the rank's, but -1, any other one, for a wrapper, so that
// the program that it starts can have that.
inline int64_t wanted_number(const Guess& guess, int64_t rank) {
  return guess.role == Role::kWrapper ? -1 : rank;
}

// Returns for which rank (-1: none) the task of a program stands that `rank` runs first.
inline int64_t stands_for(const Guess& guess, int64_t rank) {
  return guess.role == Role::kOverseer ? -1 : rank;
}

// Returns true for a library of Open MPI or MPICH, for any language. ("libmpiseq" of MUMPS is no
// MPI.)
bool is_mpi_library(std::string_view name);

}  // namespace nagaya::tools
