// SPDX-License-Identifier: BSD-3-Clause
// status_target.h - `nagaya ps` reads any bytes as a host's status, and shows what it has read.
#pragma once

#include <algorithm>

#include "job_text.h"
#include "targets.h"

namespace nagaya::fuzz {

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
    if (tools::table_text({socket}, true).empty() || tools::json_text({socket}).empty())
      std::abort();
  } catch (const base::Error& error) {
    if (error.code() != -EPROTO) undocumented(error);
  }
}

}  // namespace nagaya::fuzz
