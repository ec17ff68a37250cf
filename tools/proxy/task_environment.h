// SPDX-License-Identifier: BSD-3-Clause
// task_environment.h - the environment that tasks get.
#pragma once

#include <string>
#include <vector>

#include "proxy/program_role.h"
#include "task/load/program.h"

namespace nagaya::tools {

// Sets a variable in an environment; `variable` is NAME=VALUE.
void set_variable(std::vector<std::string>& environment, const std::string& variable);

// Makes the environment of an ordinary process that of a task: adds the settings of libraries
// (task/load/upper_settings.h). With NAGAYA_BLACS=on in it, our BLACS are loaded before those that
// the program is linked with. Throws Error.
void make_environment_of_task(std::vector<std::string>& environment);

// Returns such an environment, made from that of this process.
std::vector<std::string> environment_of_task();

// Whether the program may load an MPI, and has the libc that the face was built with: no other
// program could load the face, or has a use for it.
bool can_load_face(const Guess& guess);

// Preloads the face of MPI (faces/mpi/environment.h) into a task that can load it, unless
// NAGAYA_MPI is off. Throws Error.
void preload_mpi_face(task::ProgramText& text, const Guess& guess);

}  // namespace nagaya::tools
