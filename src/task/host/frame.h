// SPDX-License-Identifier: BSD-3-Clause
// frame.h - the frames of the join protocol (wire.h), and the payloads that are plain data. The
// waiter, which has no C++ library, includes this file, too.
//
//   | Frame | payload_bytes |
#pragma once

#include <cstdint>

namespace nagaya::task {

enum class MessageType : uint32_t {
  kHello,
  kWelcome,
  kRefused,
  kLaunch,
  kStarted,
  kSignal,
  kEnded,
  kWaited,
  kStatusQuery,
  kStatus,
  kQuestion,
  kAnswer,
  kFollow,
  kCommunication,
  kLeft,
  kRead,
  kReading
};
inline constexpr MessageType kLastMessageType = MessageType::kReading;

inline constexpr uint32_t kFrameMagic = 0x4e414746;
struct Frame {
  uint32_t magic;
  MessageType type;
  uint32_t payload_bytes;
  uint32_t descriptors;
};

struct Started {
  uint32_t number;
  int32_t pid;
};
struct Ended {
  uint32_t number;
  int32_t pid;
  int32_t wait_status;
  uint32_t is_first_fault;  // 1: the host's first task that died of a fault of its own
};
struct SignalRequest {
  int32_t pid;
  int32_t signal;
};
struct Communication {
  int32_t rank;  // its index on this node
  uint32_t has_begun;
};

}  // namespace nagaya::task
