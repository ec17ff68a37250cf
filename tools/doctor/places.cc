// SPDX-License-Identifier: BSD-3-Clause
// places.cc - the folders and files that a job needs.
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "command.h"
#include "doctor/doctor.h"
#include "task/host/socket_folder.h"
#include "task/load/installation.h"
#include "task/space/space.h"

namespace nagaya::tools::doctor {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr long kLustre = 0x0bd00bd0, kGpfs = 0x47504653, kBeeGfs = 0x19830326, kFuse = 0x65735546;
constexpr long kCifs = 0xff534d42, kSmb2 = 0xfe534d42;
constexpr long kOfNetwork[] = {
    NFS_SUPER_MAGIC, CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC, V9FS_MAGIC, kLustre,
    kGpfs,           kBeeGfs,          kFuse,           kCifs,      kSmb2};

bool is_of_network(const struct statfs& about) {
  return std::find(std::begin(kOfNetwork), std::end(kOfNetwork), static_cast<long>(about.f_type)) !=
         std::end(kOfNetwork);
}

// Returns what is wrong with the folder itself, "" when nothing is.
std::string fault_of(const std::string& folder) {
  struct stat about;
  if (::lstat(folder.c_str(), &about) != 0) return "";  // made when it is needed
  if (!S_ISDIR(about.st_mode)) return "is no folder";
  if (about.st_uid != ::geteuid()) return fmt::format("belongs to user {}", about.st_uid);
  if ((about.st_mode & 0777) != 0700)
    return fmt::format("has mode {:04o}, not 0700", about.st_mode & 07777);
  return "";
}

constexpr size_t kSocketNameBytes = 32;  // "/ompi-281474976710655.sock" and its end
constexpr char kElsewhere[] = "export TMPDIR=$(mktemp -d)";

}  // namespace

Finding installation(const Need&) {
  try {
    const std::string host = task::installed_program("nagaya-host");
    for (const std::string& program : {host, task::installed_program("nagaya-reaper")})
      if (::access(program.c_str(), X_OK) != 0)
        return {Level::kProblem, program + ": " + std::strerror(errno),
                "chmod a+rx " + shell_word(program)};
    return {Level::kOk, "host " + host, ""};
  } catch (const base::Error& error) {
    return {Level::kProblem, error.what(), "install nagaya again"};
  }
}

Finding process_files(const Need&) {
  char program[4096];
  if (::readlink("/proc/self/exe", program, sizeof program) < 0)
    return {Level::kProblem, fmt::format("/proc/self/exe: {}", std::strerror(errno)),
            "sudo mount -t proc proc /proc"};
  return {Level::kOk, "is mounted", ""};
}

Finding socket_folder(const Need&) {
  const std::string folder = task::socket_folder_path();
  const std::string parent = std::filesystem::path(folder).parent_path();
  if (const std::string fault = fault_of(folder); !fault.empty())
    return {Level::kProblem, folder + " " + fault, kElsewhere};
  if (folder.size() + kSocketNameBytes > task::kSocketPathBytes)
    return {Level::kProblem,
            fmt::format("{} has a path of {} bytes: the hosts' sockets there have at most {}",
                        folder, folder.size(), task::kSocketPathBytes - 1),
            kElsewhere};
  const bool exists = ::access(folder.c_str(), F_OK) == 0;
  if (::access((exists ? folder : parent).c_str(), W_OK | X_OK) != 0)
    return {Level::kProblem, fmt::format("{}: {}", exists ? folder : parent, std::strerror(errno)),
            "export TMPDIR=(a folder that you can write)"};
  struct statfs about;
  if (::statfs(parent.c_str(), &about) != 0) return {Level::kProblem, parent, kElsewhere};
  if (about.f_blocks != 0 && (about.f_bavail == 0 || (about.f_files != 0 && about.f_ffree == 0)))
    return {Level::kProblem, parent + " is full", "export TMPDIR=/dev/shm"};
  if (is_of_network(about))
    return {Level::kWarning, folder + " lies on a network file system", "export TMPDIR=/tmp"};
  return {Level::kOk, folder, ""};
}

// Nagaya uses TMPDIR for sockets only; it uses /tmp instead if TMPDIR cannot be used.
Finding temporary_folder(const Need&) {
  const char* const said = std::getenv("TMPDIR");
  if (said == nullptr || *said == '\0') return {Level::kOk, "not set: /tmp serves", ""};
  const std::string folder = said;
  constexpr char kCommon[] = "export TMPDIR=/tmp";
  struct stat status;
  struct statvfs about;
  int error = ::stat(said, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
  if (error == 0 && ::access(said, W_OK | X_OK) != 0) error = errno;
  if (error != 0)
    return {Level::kWarning,
            fmt::format("{}: {}: nagaya uses /tmp in its stead, an MPI or a compiler may fail",
                        folder, std::strerror(error)),
            kCommon};
  struct statfs system;
  if (::statfs(said, &system) == 0 && is_of_network(system))
    return {Level::kWarning,
            folder +
                " lies on a network file system: an MPI's files there are slow, and common to "
                "several nodes",
            kCommon};
  if (::statvfs(said, &about) == 0 && (about.f_flag & ST_NOEXEC) != 0)
    return {Level::kWarning,
            folder +
                " is mounted noexec: nagaya runs, but no program or library that is built or "
                "unpacked there does",
            kCommon};
  return {Level::kOk, folder, ""};
}

Finding shared_memory(const Need&) {
  struct statfs about;
  const bool works = ::statfs("/dev/shm", &about) == 0 && ::access("/dev/shm", W_OK | X_OK) == 0;
  if (!works)
    return {Level::kWarning,
            fmt::format("{}: not needed by nagaya, but by many an MPI", std::strerror(errno)),
            "sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm"};
  const uint64_t free_mib = about.f_bavail * static_cast<uint64_t>(about.f_bsize) / kMiB;
  if (free_mib < 64)
    return {Level::kWarning,
            fmt::format("{} MiB free: not needed by nagaya, but by many an MPI", free_mib),
            "sudo mount -o remount,size=50% /dev/shm"};
  return {Level::kOk, fmt::format("{} MiB free (for the MPI)", free_mib), ""};
}

}  // namespace nagaya::tools::doctor
