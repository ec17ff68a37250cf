// SPDX-License-Identifier: BSD-3-Clause
#include "observe/job_sockets.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "task/host/client.h"

namespace nagaya::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kEnding[] = ".sock";

bool is_own_socket(const std::string& path) {
  struct stat about;
  return ::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode) &&
         about.st_uid == ::geteuid();
}

// Asks the host at this socket. Returns false if the job has ended meanwhile.
bool ask(JobSocket& socket) {
  try {
    socket.status = task::query_status(socket.path);
    socket.state = SocketState::kAnswers;
  } catch (const base::Error& error) {
    socket.state = error.code() == -ESRCH ? SocketState::kStale : SocketState::kSilent;
    socket.trouble = error.what();
    // A host that ends closes its connections and removes its socket.
    if (error.code() == -EPIPE || error.code() == -ECONNRESET) return false;
  }
  return is_own_socket(socket.path) || socket.state == SocketState::kAnswers;
}

}  // namespace

std::vector<std::string> sockets_in(const task::SocketFolder& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;  // a folder that is gone holds nothing
  for (const auto& entry :
       fs::directory_iterator("/proc/self/fd/" + std::to_string(folder.fd.get()), ignored))
    if (entry.path().extension() == kEnding && is_own_socket(entry.path()))
      paths.push_back(folder.path + "/" + entry.path().filename().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string job_name(const std::string& socket_path) {
  return fs::path(socket_path).stem();
}

std::vector<JobSocket> ask_all_sockets() {
  std::vector<JobSocket> all;
  for (const task::SocketFolder& folder : task::socket_folders())
    for (const std::string& path : sockets_in(folder)) {
      JobSocket socket;
      socket.path = path;
      socket.job = job_name(path);
      if (ask(socket)) all.push_back(std::move(socket));
    }
  return all;
}

}  // namespace nagaya::tools
