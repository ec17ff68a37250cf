// SPDX-License-Identifier: BSD-3-Clause
#include "task/host_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <ctime>

namespace nagaya::task {

HostLog::HostLog(const std::string& path)
    : file_(base::checked_fd(
          ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600),
          "NAGAYA_LOG=" + path + " cannot be written")) {}

void HostLog::say(const std::string& text) const {
  if (!file_) return;
  const time_t now = ::time(nullptr);
  tm calendar{};
  char date[32];
  ::gmtime_r(&now, &calendar);
  ::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &calendar);
  const std::string line =
      std::string(date) + " nagaya-host " + std::to_string(::getpid()) + ": " + text + "\n";
  static_cast<void>(::write(file_.get(), line.data(), line.size()) < 0);
}

}  // namespace nagaya::task
