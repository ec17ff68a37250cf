// SPDX-License-Identifier: BSD-3-Clause
// intake.h - the memory by which the tasks of a node hand their requests for files to the host's
// I/O thread. The host makes one at the first opening of a file, and answers each opening with its
// address.
//
//   task ──Command──► lane, one for each task ──► FileThread ──► kernel
//     ◄── FileRequest.done, in the task's memory; then the task's bell (wake_task) ──┘
//
// The host claims the lane at the task's first opening. The threads of the task take turns at it,
// by a lock of the task.
// Death of a task at any instruction: as lane_set.h says; commands that the thread has not taken
// are dropped. Death of the host: its tasks end with it.
#pragma once

#include <new>

#include "mailbox/lane_set.h"
#include "mailbox/thread_bell.h"
#include "nagaya/file.h"
#include "task/space/space.h"

namespace nagaya::files {

enum class Op : uint8_t { kRead, kWrite, kSync, kClose };

// Plain data in the space (law 1). The addresses are the requester's memory.
struct alignas(mailbox::kLineBytes) Command {
  Op op;
  uint32_t file;  // its number
  uint64_t offset;
  std::byte* data;
  uint64_t bytes;
  nagaya_file_request* request;
};

using Lanes = mailbox::LaneSet<Command>;

struct Intake {
  static constexpr size_t bytes_for(uint32_t tasks) {
    return sizeof(Intake) + Lanes::bytes_for(tasks);
  }
  // Called by the host, in zeroed pages of bytes_for(tasks): the lanes' empty state.
  static Intake& create(std::byte* memory, uint32_t tasks) {
    auto* const intake = new (memory) Intake{};
    intake->lanes = reinterpret_cast<Lanes*>(memory + sizeof(Intake));
    intake->lanes->init(tasks);
    intake->stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(Intake), 0};
    return *intake;
  }
  bool matches() const { return stamp.matches(sizeof(Intake)) && lanes->matches(); }

  task::Stamp stamp;
  Lanes* lanes;
  mailbox::ThreadBell bell;  // of the I/O thread
};

// The host's answer to an opening.
struct Opened {
  Intake* intake;
  uint32_t file;
  uint32_t lane;  // the task's
};

}  // namespace nagaya::files
