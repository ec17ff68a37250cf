// SPDX-License-Identifier: BSD-3-Clause
// host_settings.h - the settings that a client passes to the host that it starts.
#pragma once

#include "task/load/freestanding/stop_point.h"
#include "task/space/space.h"

namespace nagaya::task {

inline constexpr int kHostListenerFd = 3;
inline constexpr int kHostSettingsFd = 4;
inline constexpr int kHostFolderFd = 5;  // the folder of the socket, checked by the client

// Passed through a socket, upon which the host has said its pid (or a negative error code and its
// text: it cannot start), because the key must not show in argv. One more byte follows when the
// listener does listen; the end of the stream before that means that the starter has died.
struct HostSettings {
  Stamp stamp;
  uint8_t key[16];
  uint32_t expected_tasks;
  uint32_t capacity;
  int32_t launcher_pid;  // when it ends, so does a host without clients; 0: none
  StopChoice stop_choice;
  char socket_path[kSocketPathBytes];
  char log_path[kSocketPathBytes];  // absolute; "": no log
};

}  // namespace nagaya::task
