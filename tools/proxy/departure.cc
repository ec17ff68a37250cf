// SPDX-License-Identifier: BSD-3-Clause
#include "proxy/departure.h"

#include "proxy/program_role.h"
#include "task/host/client.h"
#include "tool.h"

namespace nagaya::tools {

std::string reason_of_overseer(const std::string& program) {
  return program + " needs ordinary processes";
}

void tell_departure(task::Client& client, int64_t rank, const std::string& program,
                    const std::string& reason) {
  if (client.tell_left({static_cast<int32_t>(rank), program, reason}))
    complain("rank " + std::to_string(rank) + ": " + program +
             " runs outside of the space: " + reason);
}

void tell_overseen(task::Client& client, int64_t rank, const std::string& overseer,
                   const Guess& guess) {
  if (guess.role == Role::kOverseer && !guess.mpi_program.empty())
    tell_departure(client, rank, guess.mpi_program, reason_of_overseer(overseer));
}

}  // namespace nagaya::tools
