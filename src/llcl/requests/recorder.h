// SPDX-License-Identifier: BSD-3-Clause
// recorder.h - writes what a task does and what it waits for into its counts and its log
// (activity.h), while somebody reads them.
//
//   if (recorder.is_read()) [[unlikely]] recorder.count_...()     one load while nobody reads
//
// A wait has a purpose and, if that is known, a process for which the thread waits:
//
//   expect()   what the next wait is for, as far as a caller can tell before it
//   arrived()  an event that may have ended a wait: when a general wait ends (is_general), the last
//              one tells what it was for; and for any wait it tells for whom
//
// Threads of a task share both, so with several threads that wait at once they are hints.
#pragma once

#include <atomic>
#include <cstdint>

#include "llcl/board/board.h"
#include "task/space/spin_lock.h"

namespace nagaya::llcl {

// A two-sided message as its sender and its receiver know it.
struct RecordedMessage {
  uint32_t context, serial;
  int32_t source, tag;
  uint64_t bytes;
};

class Recorder {
 public:
  Recorder(Board& board, mailbox::Owner self) : board_(board), self_(self) {}

  // Relaxed: nothing depends on when a thread sees a change.
  bool is_read() const { return board_.watched.load(std::memory_order_relaxed) != 0; }

  // The next ones are called only if is_read().
  void count_sent(nagaya_process to, const RecordedMessage& message);
  void count_received(nagaya_process from, const RecordedMessage& message);
  void expect(Purpose purpose, nagaya_process whom);
  void arrived(Purpose purpose, nagaya_process whom);

 private:
  friend class RecordedWait;

  OtherProcess other(nagaya_process process) const {
    return OtherProcess::of(process, board_.node.load(std::memory_order_relaxed));
  }
  TaskActivity& own();
  bool is_logged() const { return (board_.watched.load(std::memory_order_relaxed) & kLog) != 0; }
  void log(ActivityEvent event);
  void log_message(ActivityEvent::Kind kind, nagaya_process other, const RecordedMessage& message);

  Board& board_;
  const mailbox::Owner self_;
  // Relaxed: hints.
  std::atomic<WaitReason> expected_{}, arrived_{};
  std::atomic<uint32_t> short_waits_ = 0;
  task::SpinLock lock_;  // of the log
};

// One wait of the calling thread. While logs are read, it is timed from its first poll in vain on.
// Else that would cost more than a short message: of the first kShortPolls polls in vain only one
// wait in kSampled is timed, and stands for all; what lasts longer is timed in each wait.
class RecordedWait {
 public:
  RecordedWait(Recorder& recorder, Purpose purpose) : recorder_(recorder), purpose_(purpose) {}
  RecordedWait(const RecordedWait&) = delete;
  ~RecordedWait() {
    if ((sample_begin_ | begin_) != 0) [[unlikely]]
      end();
  }
  // Called after each poll in vain.
  void polled() {
    if (begin_ == 0 && recorder_.is_read()) [[unlikely]]
      begin_or_count();
  }

  static constexpr uint32_t kShortPolls = 16, kSampled = 8;

 private:
  void begin_or_count();
  void begin();
  void end();
  WaitReason reason(WaitReason arrived, WaitReason expected) const;

  Recorder& recorder_;
  const Purpose purpose_;
  uint32_t polls_ = 0;         // in vain, so far
  uint64_t sample_begin_ = 0;  // of a sampled wait that is still short [ticks]
  uint64_t begin_ = 0;         // of a wait that is timed by itself [ticks]
};

}  // namespace nagaya::llcl
