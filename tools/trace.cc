// SPDX-License-Identifier: BSD-3-Clause
// trace.cc - `nagaya trace`: records what the tasks of a job wait for, and their messages.
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "command.h"
#include "observe/job_sockets.h"
#include "observe/process_files.h"
#include "observe/trace_recording.h"
#include "subcommands.h"
#include "task/host/client.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

using base::Error;
using Clock = std::chrono::steady_clock;

// Between two looks at the logs. Logs of tasks that do more than a million things a second wrap
// meanwhile, and lose events: so much is the most that one processor could write to a file.
constexpr std::chrono::milliseconds kPause(20);
constexpr std::chrono::milliseconds kPauseBefore(1);  // a job may end within some milliseconds

// Blocks the signals that end a recording, while it lives.
class Signals {
 public:
  Signals() {
    ::sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&set_, signal);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;

  const sigset_t& before() const { return before_; }
  // Waits for one of the signals, or for `pause`. Returns 0 after that.
  int wait(std::chrono::nanoseconds pause) const {
    const timespec time{static_cast<time_t>(pause.count() / 1'000'000'000),
                        static_cast<long>(pause.count() % 1'000'000'000)};
    const int signal = ::sigtimedwait(&set_, nullptr, &time);
    return signal > 0 ? signal : 0;
  }

 private:
  sigset_t set_{}, before_{};
};

// The command could not be started.
struct NotStarted : Error {
  using Error::Error;
};

// The command that the user wants to trace.
class Child {
 public:
  Child(const Words& words, const Signals& signals) {
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &signals.before());
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int error = ::posix_spawnp(&pid_, words[0].c_str(), nullptr, &attributes,
                                     argv_of(words).data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) throw NotStarted(-error, words[0] + ": " + std::strerror(error));
  }

  // Returns the exit code, once the command has ended. `waits`: until then.
  std::optional<int> exit_code(bool waits) {
    int status = 0;
    pid_t ended = 0;
    do ended = ::waitpid(pid_, &status, waits ? 0 : WNOHANG);
    while (ended < 0 && errno == EINTR);
    if (ended == 0) return std::nullopt;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  void signal(int number) const { ::kill(pid_, number); }
  // Whether this process is the command, or its descendant.
  bool has_started(int pid) const {
    constexpr int kGenerationsMax = 64;
    for (int n = 0; n < kGenerationsMax && pid > 1; ++n) {
      if (pid == pid_) return true;
      pid = static_cast<int>(status_number(pid, "PPid").value_or(0));
    }
    return false;
  }

 private:
  pid_t pid_ = 0;
};

// Adds the jobs that the command has started since the last call.
void add_jobs_of(const Child& child, Recording& recording, std::set<std::string>& others) {
  for (const task::SocketFolder& folder : task::socket_folders())
    for (const std::string& path : sockets_in(folder)) {
      if (recording.has(path) || others.contains(path)) continue;
      JobSocket job{path, job_name(path), SocketState::kAnswers, "", {}};
      try {
        job.status = task::query_status(path);
        if (child.has_started(job.status.launcher_pid))
          recording.add(job);
        else
          others.insert(path);
      } catch (const Error&) {
        continue;  // it starts or ends just now
      }
    }
}

// Adds the running job that the words name, or without words the only one. Returns false if the
// words are a command.
bool add_running_job(const Words& words, Recording& recording) {
  if (words.size() > 1) return false;
  std::vector<JobSocket> jobs = ask_all_sockets();
  std::erase_if(jobs, [&](const JobSocket& job) {
    return job.state != SocketState::kAnswers || (!words.empty() && job.job != words[0]);
  });
  if (jobs.empty() && !words.empty()) return false;
  if (jobs.empty()) throw Error(-ESRCH, "no job of yours runs on this node");
  if (jobs.size() > 1 && words.empty()) {
    std::string names;
    for (const JobSocket& job : jobs) names += " " + job.job;
    throw Error(-EINVAL, "several jobs run; name one:" + names);
  }
  for (const JobSocket& job : jobs) recording.add(job);
  return true;
}

// Records until the time is up, a signal comes, or nothing is left to record. Returns the exit code
// of the command if it has ended.
std::optional<int> record(const TraceOptions& options, Recording& recording, Child* child,
                          const Signals& signals) {
  const Clock::time_point begin = Clock::now();
  std::set<std::string> others;  // sockets of jobs that the command has not started
  std::optional<int> code;
  for (;;) {
    const int signal = signals.wait(recording.is_empty() ? kPauseBefore : kPause);
    if (child != nullptr) {
      code = child->exit_code(false);
      if (!code) add_jobs_of(*child, recording, others);
      if (signal == SIGTERM || signal == SIGHUP) child->signal(signal);
    }
    if (!recording.is_empty()) recording.drain();
    const bool is_time_up = options.seconds > 0 &&
                            Clock::now() - begin >= std::chrono::duration<double>(options.seconds);
    const bool is_over = child != nullptr
                             ? code.has_value()
                             : (signal != 0 && signal != SIGCHLD) || recording.has_ended();
    if (is_over || is_time_up) return code;
  }
}

}  // namespace

int trace_command(const TraceOptions& options) try {
  const Signals signals;
  TraceFile file(options.output);
  Recording recording(file);
  std::optional<Child> child;
  if (!add_running_job(options.command, recording)) child.emplace(options.command, signals);
  std::optional<int> code = record(options, recording, child ? &*child : nullptr, signals);
  recording.finish();
  if (recording.is_empty())
    complain(options.command[0] + " has started no job of nagaya: the trace is empty");
  else
    fmt::print(stderr, "nagaya: {}: {} events of {} threads in {:.1f} s, {} lost\n", options.output,
               file.events(), recording.tasks(), recording.seconds(), recording.lost());
  if (!child) return 0;
  while (!code) {
    const int signal = signals.wait(std::chrono::seconds(1));
    if (signal == SIGTERM || signal == SIGHUP) child->signal(signal);
    code = child->exit_code(false);
  }
  return *code;
} catch (const NotStarted& error) {
  complain(error.what());
  return exit_code_of(error.code());
}

}  // namespace nagaya::tools
