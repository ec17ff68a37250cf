// SPDX-License-Identifier: BSD-3-Clause
#include "job.h"

#include <unistd.h>

#include <cstdlib>
#include <functional>

namespace nagaya::tools {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Both halves of a secret such as "0123456789abcdef-fedcba9876543210".
void key_from_digits(const std::string& secret, uint8_t (&key)[16]) {
  int nibbles = 0;
  for (char c : secret) {
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0 || nibbles == 32) continue;
    key[nibbles / 2] = static_cast<uint8_t>(key[nibbles / 2] << 4 | value);
    ++nibbles;
  }
}

// A name for the socket that does not give the secret away.
std::string socket_name(const std::string& kind, const std::string& secret) {
  return kind + "-" + std::to_string(std::hash<std::string>{}(secret)&0xffffffffffff);
}

}  // namespace

LaunchedJob job_of_environment() {
  LaunchedJob found;
  task::Job& job = found.job;
  // Random per mpirun and inherited by the jobs that it spawns (MPI_Comm_spawn).
  const std::string transports = variable("OMPI_MCA_orte_precondition_transports");
  const std::string space = variable("PMIX_NAMESPACE");
  if (!transports.empty() && !space.empty()) {
    key_from_digits(transports, job.key);
    job.name = socket_name("ompi", transports);
    job.group = space;
    job.group_tasks =
        static_cast<uint32_t>(std::atoi(variable("OMPI_COMM_WORLD_LOCAL_SIZE").c_str()));
    job.launcher_pid = ::getppid();
    found.local_rank = std::atoi(variable("OMPI_COMM_WORLD_LOCAL_RANK").c_str());
    found.launched = true;
    return found;
  }
  task::random_key(job.key);
  job.name = socket_name("one", task::hex(job.key));
  job.group = job.name;
  job.group_tasks = 1;
  job.launcher_pid = ::getpid();
  return found;
}

}  // namespace nagaya::tools
