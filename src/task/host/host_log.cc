// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/host_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/printable.h"

namespace nagaya::task {
namespace {

// Returns why lines for this file might reach another file or another user's file; "" if they do
// not.
std::string objection(const struct stat& about) {
  if (!S_ISREG(about.st_mode)) return "is no ordinary file; name another one";
  if (about.st_uid != ::geteuid() && about.st_uid != 0)
    return "belongs to user " + std::to_string(about.st_uid) + "; name a file of yours";
  // A stranger may have made this name as a hard link to another file of this user.
  if (about.st_nlink > 1) return "has several names (hard links); name another one";
  return {};
}

base::Fd open_log(const std::string& path) {
  const std::string name = "NAGAYA_LOG=" + path;
  // O_NONBLOCK: a FIFO without a reader is an error.
  base::Fd file(
      ::open(path.c_str(),
             O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file && errno == ELOOP)
    throw base::Error(-ELOOP, name + " is a symbolic link; name the file itself");
  if (!file) base::throw_errno(name + " cannot be written");
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) base::throw_errno(name + " cannot be written");
  if (const std::string why = objection(about); !why.empty())
    throw base::Error(-EPERM, name + " " + why);
  return file;
}

}  // namespace

HostLog::HostLog(const std::string& path) : file_(open_log(path)) {}

void HostLog::say(const std::string& text) const {
  if (!file_) return;
  const time_t now = ::time(nullptr);
  tm calendar{};
  char date[32];
  ::gmtime_r(&now, &calendar);
  ::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &calendar);
  const std::string line = std::string(date) + " nagaya-host " + std::to_string(::getpid()) + ": " +
                           base::printable(text) + "\n";
  static_cast<void>(::write(file_.get(), line.data(), line.size()) < 0);
}

}  // namespace nagaya::task
