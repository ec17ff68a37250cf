// SPDX-License-Identifier: BSD-3-Clause
// doctor.h - the checks of `nagaya doctor`. A check of the machine is one function and one entry of
// the table in doctor.cc; it examines one thing and says what that means for a job of `Need::tasks`
// tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nagaya::tools::doctor {

enum class Level {
  kOk,
  kWarning,  // such a job runs, but something that many programs or users need does not
  kProblem,  // such a job does not run
};

struct Finding {
  Level level;
  std::string text;    // one line: the finding, and its meaning
  std::string remedy;  // the one command that mends it; "" when there is nothing to mend
};

struct NamedFinding {
  const char* name;
  Finding finding;
};

// The needs of a job of this size.
struct Need {
  uint64_t tasks;

  // Measured: a small C program has 12 to 22 mappings, an Open MPI rank about 290; the host 140.
  uint64_t small_mappings() const { return 140 + 22 * tasks; }
  uint64_t open_mpi_mappings() const { return 140 + 290 * tasks; }
  // Measured: private memory and page tables of a small C program and of an Open MPI rank.
  uint64_t small_kib() const { return 2048 + 160 * tasks; }
  uint64_t open_mpi_kib() const { return 2048 + 3072 * tasks; }
  // Each task and its proxy; a launcher, a host. An Open MPI rank has two threads more.
  uint64_t processes() const { return 2 * tasks + 2; }
  uint64_t open_mpi_processes() const { return 4 * tasks + 8; }
};

using Look = Finding (*)(const Need& need);

// kernel.cc
Finding kernel_version(const Need& need);
Finding clone3(const Need& need);
Finding shared_memory_clone(const Need& need);
Finding changed_text(const Need& need);
Finding debugger(const Need& need);
Finding core_files(const Need& need);

// limits.cc
Finding mappings(const Need& need);
Finding threads_max(const Need& need);
Finding pid_max(const Need& need);
Finding user_processes(const Need& need);
Finding cgroup_processes(const Need& need);
Finding descriptors(const Need& need);
Finding stack(const Need& need);
Finding locked_memory(const Need& need);

// memory.cc
Finding memory(const Need& need);
Finding address_limit(const Need& need);
// Returns the lower one of the hard limits of addresses and data [bytes]; nullopt: there is none.
// The kernel counts the whole space for every task.
std::optional<uint64_t> least_hard_limit();
Finding partitions(const Need& need);
Finding overcommit(const Need& need);
Finding huge_pages(const Need& need);

// network.cc
Finding network(const Need& need);
Finding delegatees(const Need& need);

// places.cc
Finding installation(const Need& need);
Finding process_files(const Need& need);
Finding socket_folder(const Need& need);
Finding temporary_folder(const Need& need);
Finding shared_memory(const Need& need);

// software.cc
Finding message_passing(const Need& need);
Finding python(const Need& need);

// program.cc

// Examines the program that `command` names (path or name, then arguments).
std::vector<NamedFinding> examine_program(const std::vector<std::string>& command,
                                          const Need& need);

// facts.cc

// Returns the first line of a file, without the line's end; nullopt when it cannot be read.
std::optional<std::string> first_line(const std::string& path);
// Returns the number at the start of a file; nullopt when it cannot be read or begins with none.
std::optional<uint64_t> first_number(const std::string& path);
// Returns the number after "<field>:" in a file of such lines (/proc/meminfo, /proc/PID/status).
std::optional<uint64_t> field_number(const std::string& path, const std::string& field);
// Return the soft or the hard limit of a resource (getrlimit(2)); nullopt when there is none.
std::optional<uint64_t> soft_limit(int resource);
std::optional<uint64_t> hard_limit(int resource);
// Runs `attempt` in a child and returns what it returned (0 .. 255), or -1 when it died: a filter
// may forbid a call by a deadly signal.
int try_in_child(const std::function<int()>& attempt);
// Returns true if the dynamic linker loads this library; tries that in a child.
bool loads(const std::string& library);
// Returns the least power of two that is not below `number`: people write such values into
// sysctl.conf.
uint64_t rounded_up(uint64_t number);
// Returns the command that sets a sysctl to `value`.
std::string sysctl_command(const std::string& name, uint64_t value);

}  // namespace nagaya::tools::doctor
