// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/meeting.h"

#include <cerrno>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "bootstrap/pmi1.h"
#include "bootstrap/pmix_meeting.h"

namespace nagaya::bootstrap {
namespace {

// Returns the number in the first of these variables that is set: each launcher has its own.
std::optional<uint32_t> first_number(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return static_cast<uint32_t>(std::strtoul(value, nullptr, 10));
  return std::nullopt;
}

}  // namespace

Launched find_launcher(uint32_t task, uint32_t tasks_expected) {
  // `tasks_expected` is the number of the space's first job. A job that one of its tasks has
  // spawned may have more processes here.
  const uint32_t tasks_here =
      first_number({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}).value_or(tasks_expected);
  const uint32_t size = first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
                            .value_or(tasks_here);
  const uint32_t rank =
      first_number({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}).value_or(task);
  const char* const name = std::getenv("PMIX_NAMESPACE");
  const std::string job = name != nullptr ? name : "";
  if (size <= tasks_here) return {rank, size, nullptr, job};
  if (name != nullptr) {
    auto meeting = std::make_unique<PmixMeeting>();
    return {meeting->rank(), size, std::move(meeting), job};
  }
  if (const auto descriptor = first_number({"PMI_FD"}))
    return {rank, size, std::make_unique<Pmi1Meeting>(static_cast<int>(*descriptor), rank), job};
  throw base::Error(
      -ENOTSUP,
      "the job has several nodes, but its launcher speaks neither PMIx nor PMI-1: use "
      "mpirun, mpiexec, or srun --mpi=pmix");
}

}  // namespace nagaya::bootstrap
