// SPDX-License-Identifier: BSD-3-Clause
// task_start.cc - starting many small programs that are alive at once: as tasks of one space, by
// posix_spawn, and (floor) by fork without loading any program. Time until the last one runs, and
// the page tables of all of them.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "machine.h"
#include "nagaya/task.h"
#include "program_main.h"

extern char** environ;

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;

// A pause in which the kernel frees the processes of one way before the next way is timed.
constexpr std::chrono::milliseconds kSettle{100};
constexpr char kAlive = '+';
constexpr char kAnotherByte = '-';

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

// Returns VmPTE of a process [KiB]: the memory of its page tables, at all levels.
double page_tables_kib(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmPTE:")) return std::stod(line.substr(6));
  fail("no VmPTE of process " + std::to_string(pid));
}

// Programs write one byte to `alive`; all end when `ends` is closed.
struct Pipes {
  int alive[2], ends[2];
  Pipes() {
    if (::pipe2(alive, O_CLOEXEC) != 0 || ::pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  }
  ~Pipes() {
    for (int fd : {alive[0], alive[1], ends[0]}) ::close(fd);
    end_all();
  }
  void end_all() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }
  void await(int count) {
    char bytes[256];
    for (int seen = 0; seen < count;) {
      const ssize_t got = ::read(alive[0], bytes, sizeof bytes);
      if (got <= 0) fail("read");
      for (ssize_t n = 0; n < got; ++n)
        if (bytes[n] != kAlive) throw std::runtime_error("a program sent the wrong byte");
      seen += static_cast<int>(got);
    }
  }
};

// One way to start programs.
class Way {
 public:
  virtual ~Way() = default;
  virtual void start(const Pipes& pipes, char byte) = 0;
  virtual double all_page_tables_kib() = 0;
  virtual void await_end() = 0;  // throws if a program did not exit with 0
};

class InSpace : public Way {
 public:
  explicit InSpace(int count) {
    nagaya_space_options options{};
    options.size = sizeof options;
    options.tasks = static_cast<unsigned>(count);
    if (nagaya_space_create(&options, &space_) < 0) throw std::runtime_error(nagaya_error_text());
  }
  ~InSpace() override { nagaya_space_destroy(space_); }
  void start(const Pipes& pipes, char byte) override {
    char argument[] = {byte, 0};
    char* const argv[] = {path_.data(), argument, nullptr};
    const int descriptors[] = {pipes.ends[0], pipes.alive[1], 2};
    nagaya_task_program program{};
    program.path = path_.c_str();
    program.argv = argv;
    program.descriptors = descriptors;
    program.descriptor_count = std::size(descriptors);
    if (nagaya_task_spawn(space_, &program, &pid_) < 0)
      throw std::runtime_error(nagaya_error_text());
    ++started_;
  }
  // Any task's VmPTE is that of the one address space, the host's own part included.
  double all_page_tables_kib() override { return page_tables_kib(pid_); }
  void await_end() override {
    for (; started_ > 0; --started_) {
      int status = -1;
      if (nagaya_task_wait(space_, -1, &status, -1) < 0)
        throw std::runtime_error(nagaya_error_text());
      if (status != 0) throw std::runtime_error("a task did not end well");
    }
  }

 private:
  nagaya_space* space_ = nullptr;
  std::string path_ = program_folder() / "small-program";
  int pid_ = -1, started_ = 0;
};

class Processes : public Way {
 public:
  double all_page_tables_kib() override {
    double sum = 0;
    for (pid_t pid : pids_) sum += page_tables_kib(pid);
    return sum;
  }
  void await_end() override {
    for (pid_t pid : pids_) {
      int status = -1;
      if (::waitpid(pid, &status, 0) != pid || status != 0)
        throw std::runtime_error("a process did not end well");
    }
    pids_.clear();
  }

 protected:
  std::vector<pid_t> pids_;
};

class BySpawn : public Processes {
 public:
  void start(const Pipes& pipes, char byte) override {
    char argument[] = {byte, 0};
    char* const argv[] = {path_.data(), argument, nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipes.ends[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, pipes.alive[1], 1);
    pid_t pid;
    errno = ::posix_spawn(&pid, path_.c_str(), &actions, nullptr, argv, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (errno != 0) fail(path_);
    pids_.push_back(pid);
  }

 private:
  std::string path_ = program_folder() / "small-program";
};

class ByFork : public Processes {
 public:
  void start(const Pipes& pipes, char byte) override {
    const pid_t pid = ::fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
      ::close(pipes.ends[1]);
      char end;
      if (::write(pipes.alive[1], &byte, 1) != 1) ::_exit(1);
      while (::read(pipes.ends[0], &end, 1) > 0) {
      }
      ::_exit(0);
    }
    pids_.push_back(pid);
  }
};

struct Round {
  double start_ms, page_tables_kib, end_ms;
};

Round measure(Way& way, int count, bool corrupt) {
  const auto ms_since = [](Clock::time_point then) {
    return std::chrono::duration<double, std::milli>(Clock::now() - then).count();
  };
  Pipes pipes;
  Round round;
  std::this_thread::sleep_for(kSettle);
  const auto start = Clock::now();
  for (int n = 0; n < count; ++n)
    way.start(pipes, corrupt && n == count / 2 ? kAnotherByte : kAlive);
  pipes.await(count);
  round.start_ms = ms_since(start);
  round.page_tables_kib = way.all_page_tables_kib();
  const auto end = Clock::now();
  pipes.end_all();
  way.await_end();
  round.end_ms = ms_since(end);
  return round;
}

Figure figure(const char* name, const char* title, const char* unit) {
  return {.name = name,
          .title = title,
          .unit = unit,
          .subject = {"nagaya_task_spawn", {}},
          .incumbent = Series{"posix_spawn", {}},
          .floor = Series{"fork, no program loaded", {}}};
}

template <class Side>
void add(std::vector<Figure>& figures, const Round& round, Side side) {
  const double values[] = {round.start_ms, round.page_tables_kib, round.end_ms};
  for (size_t n = 0; n < figures.size(); ++n) side(figures[n]).rounds.push_back(values[n]);
}

Result measure_all(int count, const Options& options) {
  const int rounds = options.rounds_or(9, 1);
  const std::string these = std::to_string(count) + " small programs";
  std::vector<Figure> figures{figure("task_start_time", "", "ms"),
                              figure("task_start_page_tables", "", "KiB"),
                              figure("task_end_time", "", "ms")};
  figures[0].title = "Start of " + these + ", until the last one runs";
  figures[1].title = "Page tables of " + these + " alive at once (VmPTE)";
  figures[2].title = "End of " + these + ", until all are reaped";
  for (int round = 0; round < rounds; ++round) {
    progress(fmt::format("task start: round {} of {}", round + 1, rounds));
    {
      InSpace space(count);
      add(figures, measure(space, count, options.corrupt),
          [](Figure& one) -> Series& { return one.subject; });
    }
    BySpawn spawn;
    add(figures, measure(spawn, count, options.corrupt),
        [](Figure& one) -> Series& { return *one.incumbent; });
    ByFork fork;
    add(figures, measure(fork, count, options.corrupt),
        [](Figure& one) -> Series& { return *one.floor; });
  }
  return {.program = "task-start", .quick = options.quick, .figures = figures, .derived = {}};
}

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  int count = 240;
  CommandLine line("Start of many small programs: tasks of one space against posix_spawn.",
                   "task-start", options);
  line.add_number("--tasks", count, 1, 4096, "How many are alive at once");
  return run_program(line, options, argc, argv, [&] { return measure_all(count, options); });
}
