// SPDX-License-Identifier: BSD-3-Clause
// trace_recording.h - records what the tasks of jobs do, from their logs (llcl/board/activity.h)
// into a TraceFile.
//
//   logs ── drain() ──► the fresh events ── the next drain() ──► the file
//
// The events wait for one more drain because the cell of a short message does not name its sender:
// the log of the sender, which may be read after that of the receiver, does.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "observe/activity_reader.h"
#include "observe/job_sockets.h"
#include "observe/trace_file.h"

namespace nagaya::tools {

class Recording {
 public:
  explicit Recording(TraceFile& file) : file_(file) {}

  // Begins to record a job, whose host has answered. Throws Error.
  void add(const JobSocket& job);
  bool has(const std::string& socket_path) const { return known_.contains(socket_path); }
  bool is_empty() const { return sources_.empty(); }
  // Whether all jobs have ended.
  bool has_ended() const;
  // Reads what the tasks have logged since the last call.
  void drain();
  // Reads the rest, adds the waits that are not over, and ends the file.
  void finish();

  uint64_t lost() const { return lost_; }
  size_t tasks() const { return named_.size(); }
  double seconds() const { return us_since_begin(arch::ticks()) / 1e6; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Task {
    uint64_t next = 0;  // event of its log
    uint32_t pid = 0;
    bool has_ended = false;
    std::string last_sender;  // of the last message that it has received
  };
  struct Source {
    JobSocket job;
    ActivityReader reader;
    std::vector<Task> tasks;                   // by number
    std::map<uint64_t, uint32_t> senders;      // the task that has a rank in a context
    std::map<uint32_t, std::string> programs;  // by pid
  };
  struct Entry {
    Source* source;
    uint32_t task;
    llcl::ActivityEvent event;
    bool is_over = true;  // kWaited
  };

  void read(Source& source, uint32_t task);
  static void ask_for_programs(Source& source);
  void add_pending_wait(Source& source, uint32_t task, uint64_t end);
  void write(const Entry& entry);
  void write_wait(const Entry& entry, TraceFile::Track track);
  void write_message(const Entry& entry, TraceFile::Track track);
  TraceFile::Track track_of(const Entry& entry);
  double us_since_begin(uint64_t ticks) const;

  TraceFile& file_;
  const uint64_t begin_ticks_ = arch::ticks();
  const Clock::time_point begin_ = Clock::now();
  double ticks_per_us_ = 0;  // 0: not measured yet
  std::list<Source> sources_;
  std::set<std::string> known_;               // their sockets
  std::set<std::pair<int, uint32_t>> named_;  // tracks
  std::vector<Entry> fresh_, earlier_;
  uint64_t lost_ = 0;
};

}  // namespace nagaya::tools
