// SPDX-License-Identifier: BSD-3-Clause
// status_target.h - `nagaya ps` reads any bytes as a host's status, and shows what it has read.
#pragma once

#include <algorithm>

#include "base/printable.h"
#include "observe/job_text.h"
#include "targets.h"

namespace nagaya::fuzz {

// No name in a status forges a line, or commands the terminal: a table of one job has its line,
// that of memory, a head and a row for each task, one for each departure, and those of refused
// messages and of requests.
inline void require_harmless(const std::string& table, const task::JobStatus& status) {
  size_t lines = 0, jobs = 0;
  for (size_t at = 0; at < table.size(); ++lines) {
    const size_t end = table.find('\n', at);
    if (end == std::string::npos) std::abort();
    const std::string line = table.substr(at, end - at);
    if (base::printable(line) != line) std::abort();
    if (line.starts_with("job ")) ++jobs;
    at = end + 1;
  }
  const bool has_requests =
      std::any_of(status.requests.begin(), status.requests.end(),
                  [](const task::RequestCount& request) { return request.count != 0; });
  const size_t wanted = 3 + status.tasks.size() + status.departures.size() +
                        (status.refused_messages != 0 ? 1 : 0) + (has_requests ? 1 : 0);
  if (jobs != 1 || lines != wanted) std::abort();
}

// JSON in ASCII, in which a name is a string of one line.
inline void require_harmless_json(const std::string& json) {
  for (const char c : json)
    if (c != '\n' && (c < ' ' || c > '~')) std::abort();
}

inline void show_status_payload(const uint8_t* data, size_t bytes) {
  const std::string payload(reinterpret_cast<const char*>(data), bytes);
  try {
    tools::JobSocket socket{"/socket", "job", tools::SocketState::kAnswers, "", {}};
    socket.status = task::decode_status(payload);
    // A stamp of a newer minor version is accepted, and not encoded again.
    const auto body = [](const std::string& all) { return all.substr(sizeof(task::Stamp)); };
    if (body(task::encode(socket.status)) != body(payload)) std::abort();
    // The answers of /proc about living processes would differ from run to run.
    socket.status.host_pid = socket.status.launcher_pid = 0;
    socket.status.tasks.resize(std::min<size_t>(socket.status.tasks.size(), 2));  // one as another
    for (task::TaskStatus& task : socket.status.tasks) task.pid = -std::abs(task.pid / 2);
    require_harmless(tools::table_text({socket}, true), socket.status);
    require_harmless_json(tools::json_text({socket}));
  } catch (const base::Error& error) {
    if (error.code() != -EPROTO) undocumented(error);
  }
}

}  // namespace nagaya::fuzz
