// SPDX-License-Identifier: BSD-3-Clause
// departure.h - tells the host and the user that a program of a rank runs outside of the space.
#pragma once

#include <cstdint>
#include <string>

namespace nagaya::task {
class Client;
}

namespace nagaya::tools {

struct Guess;

// Returns why programs behind a debugger, a profiler or another launcher are no tasks.
std::string reason_of_overseer(const std::string& program);

// Tells the host; prints a line if it is the rank's first program outside of the space. `rank`: its
// index on this node. Throws Error: the host has ended.
void tell_departure(task::Client& client, int64_t rank, const std::string& program,
                    const std::string& reason);

// Called after the rank's first program has started as a task: tells of the MPI program that it
// starts outside of the space, if it is an overseer. Throws Error: the host has ended.
void tell_overseen(task::Client& client, int64_t rank, const std::string& overseer,
                   const Guess& guess);

}  // namespace nagaya::tools
