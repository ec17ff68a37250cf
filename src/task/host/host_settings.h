// SPDX-License-Identifier: BSD-3-Clause
// host_settings.h - the settings that a client passes to the host that it starts.
#pragma once

#include "task/load/freestanding/stop_point.h"
#include "task/space/space.h"

namespace nagaya::task {

inline constexpr int kHostListenerFd = 3;
inline constexpr int kHostSettingsFd = 4;
inline constexpr int kHostFolderFd = 5;  // the folder of the socket, checked by the client
inline constexpr int kHostReaperFd = 6;  // connected to the reaper, which starts the host

// The starter sends these through a socket, because the key must not show in argv. The host first
// writes its pid (or, if it cannot start, a negative error code and its text). The starter sends
// one more byte once the listener listens; an earlier end of the stream means that the starter
// died.
struct HostSettings {
  Stamp stamp;
  uint8_t key[16];
  uint32_t expected_tasks;
  uint32_t capacity;
  int32_t launcher_pid;  // a host without clients ends when this process ends; 0: none
  StopChoice stop_choice;
  char socket_path[kSocketPathBytes];
  char log_path[kSocketPathBytes];  // absolute; "": no log
};

}  // namespace nagaya::task
