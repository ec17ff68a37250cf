// SPDX-License-Identifier: BSD-3-Clause
#include "launch.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "figure.h"
#include "machine.h"

extern char** environ;

namespace nagaya::bench {
namespace {

constexpr char kTunables[] = "GLIBC_TUNABLES=";

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    read_end = ends[0], write_end = ends[1];
  }
  ~Pipe() { close_write(), ::close(read_end); }
  Pipe(Pipe&& other) noexcept : read_end(other.read_end), write_end(other.write_end) {
    other.read_end = other.write_end = -1;
  }
  void close_write() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
  std::string read_all() {
    close_write();
    std::string all;
    char buffer[4096];
    for (ssize_t got; (got = ::read(read_end, buffer, sizeof buffer)) > 0;)
      all.append(buffer, static_cast<size_t>(got));
    return all;
  }
};

// posix_spawn with stdin, stdout, stderr, `results` and `meeting` as descriptors 0 to 4.
int spawn_separate(const char* program, char** argv, char** envp, int results, int meeting) {
  // Duplicates above 4: dup2 below overwrites 3 and 4 in the child.
  const int high_results = ::fcntl(results, F_DUPFD_CLOEXEC, 16);
  const int high_meeting = meeting >= 0 ? ::fcntl(meeting, F_DUPFD_CLOEXEC, 16) : -1;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, high_results, kResultsFd);
  if (meeting >= 0) ::posix_spawn_file_actions_adddup2(&actions, high_meeting, kMeetingFd);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program, &actions, nullptr, argv, envp);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(high_results);
  if (high_meeting >= 0) ::close(high_meeting);
  if (error != 0) throw std::runtime_error(std::string(program) + ": " + std::strerror(error));
  return pid;
}

double median_of_results(const std::string& bytes, int repetitions) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
  if (values.size() != static_cast<size_t>(repetitions))
    throw std::runtime_error("a worker sent too few results");
  return median_of(std::move(values));
}

}  // namespace

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::kSpace:
      return "tasks of one space";
    case Mode::kSeparate:
      return "separate processes";
    case Mode::kSeparateTuned:
      return "separate processes with the malloc settings of tasks";
    case Mode::kAlone:
      return "one process alone";
    case Mode::kThreads:
      return "threads of one process";
  }
  return "";
}

Launcher::Launcher() : worker_(program_folder() / "resource-worker") {
  if (nagaya_space_create(nullptr, &space_) < 0) throw std::runtime_error(nagaya_error_text());
  tuned_ = malloc_settings_of_tasks();
}

Launcher::~Launcher() {
  nagaya_space_destroy(space_);
}

// Returns the caller's environment, with the malloc settings of `mode` in place of the caller's.
std::vector<std::string> Launcher::environment(Mode mode) const {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::strncmp(*variable, kTunables, sizeof kTunables - 1) != 0) all.emplace_back(*variable);
  if (mode == Mode::kSeparateTuned) all.push_back(kTunables + tuned_);
  return all;
}

int Launcher::start(Mode mode, const Order& order, int results, int meeting) {
  std::vector<std::string> words = words_of(order);
  words.insert(words.begin(), worker_);
  std::vector<std::string> variables = environment(mode);
  const std::vector<char*> argv = pointers_to(words), envp = pointers_to(variables);
  if (mode != Mode::kSpace)
    return spawn_separate(worker_.c_str(), const_cast<char**>(argv.data()),
                          const_cast<char**>(envp.data()), results, meeting);
  const int descriptors[] = {0, 1, 2, results};
  nagaya_task_program program{};
  program.path = worker_.c_str();
  program.argv = argv.data();
  program.envp = envp.data();
  program.descriptors = descriptors;
  program.descriptor_count = std::size(descriptors);
  program.number = order.rank + 1;  // the rank is the task's number
  const int number = nagaya_task_spawn(space_, &program, nullptr);
  if (number < 0) throw std::runtime_error(nagaya_error_text());
  return number;
}

bool Launcher::ended_well(Mode mode, int worker) {
  int status = -1;
  if (mode == Mode::kSpace) {
    if (nagaya_task_wait(space_, worker, &status, -1) < 0)
      throw std::runtime_error(nagaya_error_text());
  } else {
    while (::waitpid(worker, &status, 0) < 0 && errno == EINTR) {
    }
  }
  return status == 0;
}

std::string Launcher::malloc_settings_of_tasks() {
  Order order;
  order.work = "settings";
  Pipe results;
  const int worker = start(Mode::kSpace, order, results.write_end, -1);
  const std::string settings = results.read_all();
  if (!ended_well(Mode::kSpace, worker)) throw std::runtime_error("a task failed");
  return settings;
}

double Launcher::run(Mode mode, Order order, const std::vector<int>& processors) {
  order.threads = mode == Mode::kThreads;
  if (mode == Mode::kAlone) order.ranks = 1;
  const int starts = order.threads ? 1 : order.ranks;
  const int meeting = ::memfd_create("meeting", MFD_CLOEXEC);
  if (meeting < 0 || ::ftruncate(meeting, sizeof(Meeting)) != 0)
    throw std::runtime_error("memfd_create");
  std::vector<Pipe> pipes(static_cast<size_t>(starts));
  std::vector<int> workers;
  for (int rank = 0; rank < starts; ++rank) {
    order.rank = rank;
    order.processor = processors[static_cast<size_t>(rank) % processors.size()];
    Pipe& pipe = pipes[static_cast<size_t>(rank)];
    workers.push_back(start(mode, order, pipe.write_end, meeting));
    pipe.close_write();
  }
  ::close(meeting);
  bool well = true;
  // Waits for rank 0 last: that frees the meeting, which the other ranks may still read.
  for (auto worker = workers.rbegin(); worker != workers.rend(); ++worker)
    well &= ended_well(mode, *worker);
  if (!well) throw std::runtime_error(order.work + " failed among " + name_of(mode));
  double sum = 0;
  for (Pipe& pipe : pipes) sum += median_of_results(pipe.read_all(), order.repetitions);
  return sum / starts;
}

}  // namespace nagaya::bench
