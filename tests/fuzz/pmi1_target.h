// SPDX-License-Identifier: BSD-3-Clause
// pmi1_target.h - a launcher that gives any answers by PMI-1.
//
// A NUL in the input ends a packet of the launcher. All of it is queued before the first
// question, one packet for each piece, so that no second thread is needed: the meeting receives one
// packet at a time and then the end of the stream. The launcher reads no question: a send that
// finds no room fails.
#pragma once

#include <algorithm>
#include <string_view>

#include "bootstrap/pmi1.h"
#include "targets.h"

namespace nagaya::fuzz {

inline void queue_answers(int launcher, std::string_view answers) {
  constexpr size_t kPacketMaxBytes = 4096;  // the meeting reads so much at once
  while (!answers.empty()) {
    const std::string_view piece = answers.substr(0, std::min(answers.find('\0'), kPacketMaxBytes));
    if (!piece.empty()) ::send(launcher, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    answers.remove_prefix(
        std::min(answers.size(), piece.size() + (piece.size() < kPacketMaxBytes)));
  }
  ::shutdown(launcher, SHUT_WR);
}

inline void answer_by_pmi(const uint8_t* data, size_t bytes) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return;
  const base::Fd meeting_end(ends[0]), launcher(ends[1]);
  queue_answers(launcher.get(), {reinterpret_cast<const char*>(data), bytes});
  try {
    bootstrap::Pmi1Meeting meeting(meeting_end.get(), 3);
    meeting.publish("card", "some bytes");
    meeting.fence();
    const std::string seen = meeting.read(1, "card");
    if (2 * seen.size() > bytes) std::abort();
    meeting.fence();
    meeting.read(0, "connected");
  } catch (const base::Error& error) {
    if (error.code() >= 0) undocumented(error);
  }
}

}  // namespace nagaya::fuzz
