// SPDX-License-Identifier: BSD-3-Clause
#include "native_job.h"

#include <fcntl.h>
#include <hwloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "command.h"
#include "death.h"
#include "nagaya/task.h"
#include "task_environment.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(2);  // between SIGTERM and SIGKILL, as in mpirun
constexpr int kTickMs = 50;

// Chooses each task's processors among those that this process may use, as mpirun binds by default:
// up to two tasks each to a core, more tasks each to a package, and none if there are more tasks
// than cores.
class Binding {
 public:
  explicit Binding(int tasks) {
    hwloc_topology_init(&topology_);
    hwloc_topology_set_flags(
        topology_, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
    hwloc_topology_load(topology_);
    const int cores = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_CORE);
    if (tasks > cores) return;
    type_ = tasks <= 2 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PACKAGE;
    objects_ = hwloc_get_nbobjs_by_type(topology_, type_);
  }
  ~Binding() { hwloc_topology_destroy(topology_); }
  Binding(const Binding&) = delete;

  std::optional<cpu_set_t> of(int task) const {
    if (objects_ <= 0) return std::nullopt;
    const hwloc_obj_t object =
        hwloc_get_obj_by_type(topology_, type_, static_cast<unsigned>(task % objects_));
    cpu_set_t set;
    CPU_ZERO(&set);
    unsigned cpu;
    hwloc_bitmap_foreach_begin(cpu, object->cpuset) CPU_SET(cpu, &set);
    hwloc_bitmap_foreach_end();
    return set;
  }

 private:
  hwloc_topology_t topology_;
  hwloc_obj_type_t type_ = HWLOC_OBJ_CORE;
  int objects_ = 0;
};

// The processes of a job: tasks, or ordinary processes.
class Processes {
 public:
  virtual ~Processes() = default;
  virtual void start(int index, const std::vector<std::string>& command, int stdin_fd,
                     const std::optional<cpu_set_t>& cpus) = 0;
  // Returns the death of one process that has ended; nullopt: none has.
  virtual std::optional<Death> take_ended() = 0;
  virtual void signal_all(int signal) = 0;
};

[[noreturn]] void throw_api(int code) {
  throw base::Error(code, nagaya_error_text());
}

class Tasks : public Processes {
 public:
  explicit Tasks(int count) {
    nagaya_space_options options{};
    options.size = sizeof options;
    options.tasks = static_cast<unsigned>(count);
    options.keep_ended = 1;
    if (const int error = nagaya_space_create(&options, &space_); error < 0) throw_api(error);
  }
  ~Tasks() override { nagaya_space_destroy(space_); }

  void start(int index, const std::vector<std::string>& command, int stdin_fd,
             const std::optional<cpu_set_t>& cpus) override {
    const std::vector<char*> argv = argv_of(command);
    const std::vector<std::string> environment = environment_of_task();
    const std::vector<char*> envp = argv_of(environment);
    const int descriptors[] = {stdin_fd, 1, 2};
    nagaya_task_program program{};
    program.path = command[0].c_str();
    program.argv = argv.data();
    program.envp = envp.data();
    program.descriptors = descriptors;
    program.descriptor_count = std::size(descriptors);
    program.number = index + 1;
    if (cpus) program.cpu_set = &*cpus, program.cpu_set_bytes = sizeof *cpus;
    pid_t pid = 0;
    const int number = nagaya_task_spawn(space_, &program, &pid);
    if (number < 0) throw_api(number);
    pids_[number] = pid;
  }

  std::optional<Death> take_ended() override {
    int status;
    const int number = nagaya_task_wait(space_, -1, &status, 0);
    if (number == -EPIPE) throw base::Error(-EPIPE, "the host of the job has died");
    if (number == -ETIMEDOUT || number == -ECHILD) return std::nullopt;
    if (number < 0) throw_api(number);
    const pid_t pid = pids_.extract(number).mapped();
    if (*nagaya_error_text() != '\0') throw_api(-ECANCELED);  // the task never reached its program
    return Death{static_cast<uint32_t>(number), pid, status, true};
  }

  void signal_all(int signal) override {
    for (const auto& [number, pid] : pids_) nagaya_task_signal(space_, number, signal);
  }

 private:
  nagaya_space* space_ = nullptr;
  std::map<int, pid_t> pids_;  // of the tasks that run, by their numbers
};

class OrdinaryProcesses : public Processes {
 public:
  ~OrdinaryProcesses() override { signal_all(SIGKILL); }

  void start(int index, const std::vector<std::string>& command, int stdin_fd,
             const std::optional<cpu_set_t>& cpus) override {
    const pid_t pid = ::fork();
    if (pid < 0) base::throw_errno("fork");
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(stdin_fd, 0);
      if (cpus) ::sched_setaffinity(0, sizeof *cpus, &*cpus);
      sigset_t none;
      ::sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
      ::execvp(command[0].c_str(), argv_of(command).data());
      complain(command[0] + ": " + std::strerror(errno));
      ::_exit(errno == ENOENT ? kExitNotFound : kExitCannotRun);
    }
    indices_[pid] = static_cast<uint32_t>(index);
  }

  std::optional<Death> take_ended() override {
    int status;
    pid_t pid;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0)
      if (const auto own = indices_.extract(pid))  // else a child from before this process's exec
        return Death{own.mapped(), pid, status, false};
    return std::nullopt;
  }

  void signal_all(int signal) override {
    for (const auto& [pid, index] : indices_) ::kill(pid, signal);
  }

 private:
  std::map<pid_t, uint32_t> indices_;  // of those that run
};

int exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Waits for `left` processes to end; ends all others when one fails or the user interrupts.
int await_end(Processes& processes, int left, int signals) {
  int code = 0;
  std::optional<Clock::time_point> kill_at;
  const auto end_all = [&] {
    if (kill_at) return;
    processes.signal_all(SIGTERM);
    kill_at = Clock::now() + kGrace;
  };
  while (left > 0) {
    while (const auto death = processes.take_ended()) {
      --left;
      if (death->wait_status == 0 || code != 0 || kill_at) continue;
      code = exit_code(death->wait_status);
      const std::string consequence = left == 0   ? ""
                                      : left == 1 ? "; ending the other one"
                                                  : fmt::format("; ending the {} others", left);
      if (left != 0 || WIFSIGNALED(death->wait_status)) tell_of(*death, consequence.c_str());
      if (left != 0) end_all();
    }
    if (left == 0) break;
    signalfd_siginfo info;
    pollfd ready{signals, POLLIN, 0};
    ::poll(&ready, 1, kTickMs);
    while (::read(signals, &info, sizeof info) == sizeof info) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;
      if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) {
        if (code == 0) code = 128 + signal;
        end_all();
      } else if (info.ssi_code != SI_KERNEL) {
        processes.signal_all(signal);
      }
      if (signal == SIGTSTP) ::raise(SIGSTOP);
    }
    if (kill_at && Clock::now() > *kill_at) processes.signal_all(SIGKILL);
  }
  return code;
}

// Opens /dev/null for each standard stream that is closed. Otherwise a file that this command opens
// would get the stream's number, and the tasks would inherit it.
void fill_standard_streams() {
  for (const int fd : {0, 1, 2})
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDWR);  // gets the lowest free number
}

// Returns true if the signal is ignored, as by nohup. If such a signal were blocked, the kernel
// would queue it nevertheless.
bool is_ignored(int signal) {
  struct sigaction before {};
  ::sigaction(signal, nullptr, &before);
  return before.sa_handler == SIG_IGN;
}

}  // namespace

int run_native(const NativeJob& job) {
  fill_standard_streams();
  ::signal(SIGCHLD, SIG_DFL);  // if it stayed ignored, waitpid would get no status of children
  sigset_t handled;
  ::sigemptyset(&handled);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD})
    if (!is_ignored(signal)) ::sigaddset(&handled, signal);
  const base::Fd signals =
      base::checked_fd(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
  const base::Fd nothing = base::checked_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null");
  const Binding binding(job.count);
  std::unique_ptr<Processes> processes;
  if (job.separate)
    processes = std::make_unique<OrdinaryProcesses>();
  else
    processes = std::make_unique<Tasks>(job.count);
  for (int n = 0; n < job.count; ++n)
    processes->start(n, job.command, n == 0 ? 0 : nothing.get(), binding.of(n));
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  return await_end(*processes, job.count, signals.get());
}

}  // namespace nagaya::tools
