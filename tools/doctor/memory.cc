// SPDX-License-Identifier: BSD-3-Clause
// memory.cc - checks addresses and memory for all tasks of a space together.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "doctor/doctor.h"
#include "task/space/space.h"

namespace nagaya::tools::doctor {
namespace {

constexpr uint64_t kGiB = 1ull << 30;
constexpr uint64_t kHeapBytes = 16 * kGiB;       // of the space, reserved by the host
constexpr uint64_t kTaskBytes = (8 + 64) << 20;  // stack and first heap of a task, mostly untouched
// Under such a limit ranks that only start their MPI were tried: 8 of Open MPI 4.1 run with 366 MiB
// each, and 4 with 244 fail; 4 of MPICH 4.0 run with 1953 MiB each and fail with 1465.
constexpr uint64_t kOpenMpiAddressesMib = 500, kMpichAddressesMib = 2000;
constexpr uint64_t kPieceBytes = 1024 * kGiB;

// Tries to map pieces of the space, whose addresses must be the same in every program. Returns 0,
// or an errno.
int refusal_of_addresses() {
  for (uint64_t at = task::kSpaceBegin; at + kPieceBytes <= task::kSpaceEnd; at += kPieceBytes) {
    void* wanted = reinterpret_cast<void*>(at);
    void* got = ::mmap(wanted, kPieceBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) return errno;
    ::munmap(got, kPieceBytes);
    if (got != wanted) return EEXIST;
  }
  return 0;
}

// Returns the lower one of the limits of addresses and data; nullopt: there is none.
std::optional<uint64_t> least_soft_limit() {
  const auto addresses = soft_limit(RLIMIT_AS), data = soft_limit(RLIMIT_DATA);
  if (!addresses || !data) return addresses ? addresses : data;
  return std::min(*addresses, *data);
}

}  // namespace

std::optional<uint64_t> least_hard_limit() {
  const auto addresses = hard_limit(RLIMIT_AS), data = hard_limit(RLIMIT_DATA);
  if (!addresses || !data) return addresses ? addresses : data;
  return std::min(*addresses, *data);
}

Finding partitions(const Need& need) {
  const int error = least_soft_limit() ? 0 : try_in_child(refusal_of_addresses);
  if (error == 0)
    return {Level::kOk, fmt::format("{} partitions fit between 17 and 85 TiB", need.tasks), ""};
  return {Level::kProblem,
          fmt::format("the addresses between 17 and 85 TiB cannot be mapped ({})",
                      error < 0 ? "forbidden by a signal" : std::strerror(error)),
          "nagaya run --separate ..."};
}

// Host and tasks raise the soft limit to the hard one; the heap of the space then takes a quarter.
Finding address_limit(const Need& need) {
  const auto hard = least_hard_limit(), soft = least_soft_limit();
  if (!hard && soft)
    return {
        Level::kOk,
        fmt::format("ulimit -v or -d is {} MiB, for ordinary processes; tasks lift it: there is "
                    "no hard limit (ulimit -Hv, -Hd)",
                    *soft >> 20),
        ""};
  if (!hard) return {Level::kOk, "no limit of addresses or data (ulimit -v, -d)", ""};
  const uint64_t wanted_mib = (need.tasks * kTaskBytes >> 20) * 4 / 3;
  const std::string text = fmt::format(
      "ulimit -v or -d allows {} MiB of addresses or data, which count for the whole space, all "
      "tasks together; {} tasks need about {}, as many Open MPI ranks {}, MPICH ranks {}, and what "
      "they allocate",
      *hard >> 20, need.tasks, wanted_mib, kOpenMpiAddressesMib * need.tasks,
      kMpichAddressesMib * need.tasks);
  const std::string remedy = "sudo prlimit --as=unlimited --data=unlimited --pid $$";
  if (*hard >> 20 < wanted_mib) return {Level::kProblem, text, remedy};
  if (*hard >> 20 < kMpichAddressesMib * need.tasks) return {Level::kWarning, text, remedy};
  return {Level::kOk, text, ""};
}

// Without overcommit the kernel promises all memory that is mapped, touched or not.
Finding overcommit(const Need& need) {
  const uint64_t mode = first_number("/proc/sys/vm/overcommit_memory").value_or(0);
  const std::string text = fmt::format("vm.overcommit_memory is {}", mode);
  if (mode != 2) return {Level::kOk, text, ""};
  const uint64_t limit = field_number("/proc/meminfo", "CommitLimit").value_or(0);
  const uint64_t used = field_number("/proc/meminfo", "Committed_AS").value_or(0);
  const uint64_t left_gib = (limit - std::min(limit, used)) >> 20;
  const uint64_t wanted_gib = (kHeapBytes + need.tasks * kTaskBytes) / kGiB + 1;
  const std::string remedy = sysctl_command("vm.overcommit_memory", 0);
  if (left_gib < wanted_gib)
    return {Level::kProblem,
            fmt::format("{} and {} GiB are left to promise: {} tasks need about {}", text, left_gib,
                        need.tasks, wanted_gib),
            remedy};
  return {Level::kWarning,
          fmt::format("{}: untouched memory counts, {} GiB are left of which {} tasks need about "
                      "{}; with unlimited stacks 16 for each",
                      text, left_gib, need.tasks, wanted_gib),
          remedy};
}

Finding memory(const Need& need) {
  const uint64_t free_kib = field_number("/proc/meminfo", "MemAvailable").value_or(0);
  const std::string text = fmt::format(
      "{} MiB available; {} tasks themselves need about {}, as many Open MPI ranks {}, "
      "page tables included; where memory runs out, the kernel (OOM killer) ends all of a space's "
      "tasks together",
      free_kib >> 10, need.tasks, need.small_kib() >> 10, need.open_mpi_kib() >> 10);
  if (free_kib < need.small_kib())
    return {Level::kProblem, text,
            fmt::format("nagaya doctor -n {}", std::max<uint64_t>(1, need.tasks / 2))};
  return {free_kib < need.open_mpi_kib() ? Level::kWarning : Level::kOk, text, ""};
}

Finding huge_pages(const Need&) {
  const auto modes = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t begin = modes ? modes->find('[') : std::string::npos;
  if (begin == std::string::npos) return {Level::kOk, "this kernel has no transparent ones", ""};
  const std::string mode = modes->substr(begin + 1, modes->find(']') - begin - 1);
  return {Level::kOk,
          fmt::format("transparent ones: {}; one choice for all tasks of a space", mode), ""};
}

}  // namespace nagaya::tools::doctor
