// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/other_process.h"

#include <sys/stat.h>

#include <fstream>
#include <map>

namespace nagaya::task {
namespace {

std::string folder_of(pid_t pid) {
  return "/proc/" + std::to_string(pid) + "/";
}

using Fields = std::map<std::string, std::string>;

// Returns the lines of /proc/PID/status by the name before the colon; none if the process has
// ended, or is none of this user's.
Fields status_of(const std::string& folder) {
  Fields fields;
  std::ifstream file(folder + "status");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(":\t");
    if (colon != std::string::npos) fields[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return fields;
}

// Returns true if the two paths lead to one file, or both to none (a kernel that lacks it).
bool is_same_file(const std::string& one, const std::string& other) {
  struct stat a {};
  struct stat b {};
  const bool is_there = ::stat(one.c_str(), &a) == 0;
  if ((::stat(other.c_str(), &b) == 0) != is_there) return false;
  return !is_there || (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

}  // namespace

pid_t parent_of(pid_t pid) {
  const Fields status = status_of(folder_of(pid));
  const auto parent = status.find("PPid");
  return parent == status.end() ? 0 : std::stoi(parent->second);
}

std::string difference_from_this_process(pid_t pid) {
  const std::string own = "/proc/self/", other = folder_of(pid);
  for (const char* kind : {"mnt", "pid", "net", "ipc", "uts", "user", "time", "cgroup"}) {
    const std::string link = std::string("ns/") + kind;
    if (!is_same_file(own + link, other + link))
      return std::string("it has another namespace (") + kind + ") than its job";
  }
  if (!is_same_file(own + "root", other + "root")) return "it has another root folder than its job";
  Fields ours = status_of(own), theirs = status_of(other);
  if (theirs["TracerPid"] != "0") return "a debugger or a tracer follows it";
  for (const char* kind : {"Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
                           "NoNewPrivs", "Seccomp", "Seccomp_filters"})
    if (ours[kind] != theirs[kind])
      return std::string("it has other rights (") + kind + ") than its job";
  return "";
}

}  // namespace nagaya::task
