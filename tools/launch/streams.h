// SPDX-License-Identifier: BSD-3-Clause
// streams.h - standard input, output and errors of the ranks. By default ranks write to those of
// `nagaya run` themselves. With labels their lines come through pipes to a thread, which waits for
// a slow reader of the output in the launcher's stead.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "launch/event_loop.h"
#include "launch/parallel_job.h"

namespace nagaya::tools {

// Opens /dev/null for each standard stream that is closed. Otherwise a file that this process opens
// would get the stream's number, and ranks would inherit it. Call it before any file is opened.
void fill_standard_streams();

struct StreamOptions {
  std::string input = "0";  // the rank that gets standard input, or "none"; the others read nothing
  bool label = false;       // put "[rank] " before each line
  // Names of files for the output and the errors of ranks: %r is the rank, %j the job's id
  // (ParallelJob::id), %h this host's name, %% a per cent sign. "": where `nagaya run` writes; for
  // errors: where the output goes.
  std::string output{};
  std::string errors{};
};

// A rank's descriptors 0, 1 and 2. The caller keeps them until the rank has been started.
struct RankStreams {
  std::array<int, 3> descriptors{};
  std::vector<base::Fd> owned;  // those of `descriptors` that were opened for this rank
};

class Streams {
 public:
  // `ranks`: the size of the job that may get standard input. Throws OptionError.
  Streams(const StreamOptions& options, uint32_t ranks);
  ~Streams();

  // Throws OptionError: a file cannot be opened; Error: a pipe cannot be made.
  RankStreams open(const ParallelJob& job, uint32_t rank);

  // Waits until the lines of ranks, which have all ended, are written. This takes as long as the
  // reader of the output takes: call it with the signals unblocked that shall end this process.
  // Children that ranks have left behind may write for kGrace more; then their pipes are closed.
  // Throws Error: some output could not be written (a reader that has ended is no error).
  void finish();

  static constexpr std::chrono::milliseconds kGrace{500};
  static constexpr size_t kLineMax = 65536;  // [bytes]; a longer line is broken into several

 private:
  // A pipe from a rank, whose lines get a label.
  struct Pipe {
    base::Fd end;
    std::string label;
    int target;            // where the lines go
    base::Fd target_file;  // the owner of `target`; empty: it is a stream of `nagaya run`
    std::string line;      // the bytes after the last line's end
  };

  base::Fd open_file(const std::string& pattern, const ParallelJob& job, uint32_t rank);
  base::Fd open_pipe(int target, base::Fd target_file, const std::string& label);

  void serve();
  void read_from(int fd);
  void take_rest(int fd);
  bool write_lines(Pipe& pipe, std::string_view bytes, bool is_end);
  void close_pipe(int fd);

  StreamOptions options_;
  std::optional<uint32_t> input_rank_;
  base::Fd nothing_;                  // /dev/null
  std::set<std::string> file_names_;  // of the files opened so far

  // The thread owns these. After it has been joined: the first failure to write, an errno code.
  EventLoop loop_;
  std::map<int, std::shared_ptr<Pipe>> pipes_;  // by their ends
  std::optional<std::chrono::steady_clock::time_point> end_;
  int write_error_ = 0;
  std::thread thread_;
};

}  // namespace nagaya::tools
