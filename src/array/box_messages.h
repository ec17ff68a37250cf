// SPDX-License-Identifier: BSD-3-Clause
// box_messages.h - messages of match that move boxes between processes.
#pragma once

#include <errno.h>

#include "nagaya/match.h"

namespace nagaya::array {

// Starts a message. One that cannot be started is complete, with the error of its start.
template <class Message>
void start(Message& message, int (*begin)(Message*)) {
  if (const int error = begin(&message); error != 0) {
    message.error = error;
    message.is_complete = 1;
  }
}

// Returns the error of a complete message: -EPROTO if the other process has sent another length.
inline int error_of(const nagaya_receive& message) {
  if (message.error != 0) return message.error;
  return message.bytes == message.capacity ? 0 : -EPROTO;
}

}  // namespace nagaya::array
