// SPDX-License-Identifier: BSD-3-Clause
#include "machine.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>

#include <fstream>
#include <system_error>

namespace nagaya::bench {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::string commit_of_build() {
  std::ifstream file(program_folder() / "commit");
  std::string commit;
  std::getline(file, commit);
  return commit.empty() ? "unknown" : commit;
}

std::vector<int> own_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<int> all;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) all.push_back(cpu);
  return all;
}

}  // namespace

std::filesystem::path program_folder() {
  return std::filesystem::canonical("/proc/self/exe").parent_path();
}

const std::vector<int>& usable_processors() {
  static const std::vector<int> at_start = own_affinity();
  return at_start;
}

void bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0)
    throw std::system_error(errno, std::generic_category(), "sched_setaffinity");
}

Machine this_machine() {
  utsname system;
  ::uname(&system);
  return {.cpu = cpu_name(),
          .kernel = system.release,
          .libc = std::string("glibc ") + ::gnu_get_libc_version(),
          .commit = commit_of_build(),
          .cores = static_cast<int>(usable_processors().size())};
}

}  // namespace nagaya::bench
