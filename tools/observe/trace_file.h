// SPDX-License-Identifier: BSD-3-Clause
// trace_file.h - a trace in Chrome's Trace Event Format (JSON), which Perfetto and chrome://tracing
// open: a process per job and node, a thread per thread of a task, and on it
//
//   waits      slices named after their purpose, with the process for which the thread has waited
//   messages   a slice of a nanosecond at each end, and an arrow between them (a flow: "s", "f")
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace nagaya::tools {

class TraceFile {
 public:
  // Throws Error if the file cannot be written.
  explicit TraceFile(const std::string& path);
  // Removes a file that was not closed.
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;

  // The thread of an event: the host's pid, the thread's id.
  struct Track {
    int process;
    uint32_t thread;
  };
  void name_process(int process, const std::string& name);
  // `order`: tracks with lower numbers stand above.
  void name_thread(Track track, const std::string& name, uint32_t order);
  // Times are microseconds since the trace began. `whom` may be "".
  void add_wait(Track track, const char* name, const std::string& whom, double begin_us,
                double length_us, bool is_over);
  struct MessageEnd {
    bool is_sent;
    const std::string& other;  // the process at the other end; "": unknown
    uint64_t identity;         // equal at both ends
    uint64_t bytes;
    int32_t tag;
  };
  void add_message(Track track, const MessageEnd& end, double at_us);
  void add_end(Track track, double at_us);  // of a task
  void add_loss(Track track, uint64_t events, double at_us);

  uint64_t events() const { return events_; }  // waits and ends of messages, so far
  // Ends the file. Throws Error if not all could be written.
  void close(uint64_t lost_events);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  template <class... Arguments>
  void print(const char* format, const Arguments&... arguments);

  const std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  uint64_t events_ = 0;
};

}  // namespace nagaya::tools
