// SPDX-License-Identifier: BSD-3-Clause
#include "launch/streams.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "tool.h"

namespace nagaya::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kReadBytes = 65536;

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Returns what stands for %`letter` in the pattern of --output or --error.
std::string expansion_of(char letter, const std::string& pattern, uint32_t job, uint32_t rank) {
  if (letter == 'r') return std::to_string(rank);
  if (letter == 'j') return std::to_string(job);
  if (letter == 'h') return host_name();
  if (letter == '%') return "%";
  throw OptionError(
      "in the names of --output and --error there may be %r (the rank), %j (the job), "
      "%h (the host) and %%: " +
      pattern);
}

// Returns the name of a file by the pattern.
std::string file_name(const std::string& pattern, uint32_t job, uint32_t rank) {
  std::string name;
  for (size_t at = 0; at < pattern.size(); ++at)
    if (pattern[at] == '%')
      name += expansion_of(pattern.c_str()[++at], pattern, job, rank);
    else
      name += pattern[at];
  return name;
}

// Reads the value of --stdin. Returns the rank that gets standard input; nullopt: none.
std::optional<uint32_t> input_rank(const std::string& text, uint32_t ranks) {
  if (text == "none") return std::nullopt;
  if (text == "all")
    throw OptionError(
        "--stdin all: one rank can read standard input; let it pass on what "
        "it reads, or let all read a file");
  uint32_t rank = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (text.empty() || *rest != '\0' || error != std::errc() || rank >= ranks)
    throw OptionError(
        fmt::format("--stdin {}: there are ranks 0 to {}, and none", text, ranks - 1));
  return rank;
}

// Writes all, however slowly it is read. Returns 0 or an errno code.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {  // whoever shares the stream has made it non-blocking
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void fill_standard_streams() {
  for (const int fd : {0, 1, 2})
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);  // gets the lowest free number
}

Streams::Streams(const StreamOptions& options, uint32_t ranks)
    : options_(options),
      input_rank_(input_rank(options.input, ranks)),
      nothing_(base::checked_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null")) {
  for (const std::string& pattern : {options.output, options.errors}) file_name(pattern, 0, 0);
  if (options.label) thread_ = std::thread([this] { serve(); });
}

Streams::~Streams() {
  try {
    finish();
  } catch (const base::Error&) {
  }
}

RankStreams Streams::open(const ParallelJob& job, uint32_t rank) {
  RankStreams streams;
  const bool gets_input = job.id == 0 && rank == input_rank_;
  streams.descriptors[0] = gets_input ? 0 : nothing_.get();
  const std::string label =
      job.id == 0 ? fmt::format("[{}] ", rank) : fmt::format("[{}:{}] ", job.id, rank);
  const std::string& errors = options_.errors.empty() ? options_.output : options_.errors;
  for (const int stream : {1, 2}) {
    base::Fd own = open_file(stream == 1 ? options_.output : errors, job, rank);
    const int target = own ? own.get() : stream;
    if (options_.label) own = open_pipe(target, std::move(own), label);
    streams.descriptors[stream] = own ? own.get() : stream;
    if (own) streams.owned.push_back(std::move(own));
  }
  return streams;
}

// Opens a rank's file. A name that is used several times is emptied once. Returns no descriptor if
// there is no pattern.
base::Fd Streams::open_file(const std::string& pattern, const ParallelJob& job, uint32_t rank) {
  if (pattern.empty()) return base::Fd();
  const std::string name = file_name(pattern, job.id, rank);
  const int emptied = file_names_.insert(name).second ? O_TRUNC : 0;
  base::Fd file(::open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | emptied, 0666));
  if (!file)
    throw OptionError("cannot write the output of ranks to " + name + ": " + std::strerror(errno));
  return file;
}

// Makes a pipe from a rank to the thread. Returns the rank's end.
base::Fd Streams::open_pipe(int target, base::Fd target_file, const std::string& label) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    base::throw_errno("--label: each rank takes two descriptors (ulimit -n): pipe");
  base::Fd writer(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  auto pipe = std::make_shared<Pipe>(
      Pipe{base::Fd(ends[0]), label, target, std::move(target_file), std::string()});
  loop_.post([this, pipe] {
    const int fd = pipe->end.get();
    pipes_[fd] = pipe;
    loop_.watch(fd, [this, fd] { read_from(fd); });
  });
  return writer;
}

void Streams::finish() {
  if (!thread_.joinable()) return;
  loop_.post([this] { end_ = Clock::now() + kGrace; });
  thread_.join();
  if (write_error_ != 0) base::throw_errno("cannot write the output of ranks", write_error_);
}

void Streams::serve() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all,
                    nullptr);  // they are the launcher's; of SIGPIPE write(2) tells
  while (!end_) loop_.serve_once(-1);
  while (!pipes_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now());
    if (left.count() <= 0) break;
    loop_.serve_once(static_cast<int>(left.count()));
  }
  while (!pipes_.empty()) take_rest(pipes_.begin()->first);
}

void Streams::read_from(int fd) {
  char bytes[kReadBytes];
  const ssize_t got = ::read(fd, bytes, sizeof bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const bool has_ended = got <= 0;
  const bool written = write_lines(*pipes_[fd], {bytes, has_ended ? 0 : size_t(got)}, has_ended);
  if (has_ended || !written) close_pipe(fd);
}

// Takes what the pipe holds now, and closes it.
void Streams::take_rest(int fd) {
  int held = 0;
  ::ioctl(fd, FIONREAD, &held);
  for (size_t taken = 0; taken < static_cast<size_t>(held) && pipes_.contains(fd);
       taken += kReadBytes)
    read_from(fd);
  if (!pipes_.contains(fd)) return;
  write_lines(*pipes_[fd], {}, true);
  close_pipe(fd);
}

// Writes the lines that `bytes` complete, at the end of the pipe also a last one without a line
// feed. Returns false if they cannot be written.
bool Streams::write_lines(Pipe& pipe, std::string_view bytes, bool is_end) {
  std::string lines;
  const auto end_line = [&] {
    lines += pipe.label + pipe.line + '\n';
    pipe.line.clear();
  };
  while (!bytes.empty()) {
    if (bytes[0] == '\n') {
      end_line();
      bytes.remove_prefix(1);
      continue;
    }
    if (pipe.line.size() == kLineMax) end_line();
    const size_t taken = std::min({bytes.find('\n'), bytes.size(), kLineMax - pipe.line.size()});
    pipe.line += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
  }
  if (is_end && !pipe.line.empty()) end_line();
  const int error = write_all(pipe.target, lines);
  if (write_error_ == 0 && error != EPIPE) write_error_ = error;
  return error == 0;
}

// The rank gets SIGPIPE if it writes once more, as if it wrote to the target itself.
void Streams::close_pipe(int fd) {
  loop_.forget(fd);
  pipes_.erase(fd);
}

}  // namespace nagaya::tools
