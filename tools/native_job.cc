// SPDX-License-Identifier: BSD-3-Clause
#include "native_job.h"

#include <fcntl.h>
#include <hwloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "base/random.h"
#include "command.h"
#include "death.h"
#include "program_role.h"
#include "task/host/client.h"
#include "task/host/inheritance.h"
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

task::Job new_job(int count) {
  task::Job job;
  base::fill_random(job.key);
  job.name = "space-" + base::random_digits();
  job.group = "run";
  job.group_tasks = static_cast<uint32_t>(count);
  job.launcher_pid = ::getpid();
  job.keeps_tasks = true;
  return job;
}

class Tasks : public Processes {
 public:
  explicit Tasks(int count) : client_(task::Client::join(new_job(count))) {}
  // The host ends the tasks, and then itself.
  ~Tasks() override {
    const base::Fd host = client_.take_host();
    const std::string socket = client_.socket_path();
    ::shutdown(client_.fd(), SHUT_RDWR);
    pollfd end{host.get(), POLLIN, 0};
    while (::poll(&end, 1, -1) < 0 && errno == EINTR) continue;
    task::remove_stale_socket(socket);  // of a host that was killed
  }

  void start(int index, const std::vector<std::string>& command, int stdin_fd,
             const std::optional<cpu_set_t>& cpus) override {
    task::Launch launch;
    launch.text = task::resolve_program(command[0], {command.begin() + 1, command.end()},
                                        environment_of_task());
    launch.inherit = task::inherit_from_this_process();
    const Guess guess = guess_role(launch.text);
    launch.stands_for = stands_for(guess, index);
    launch.wanted_number = wanted_number(guess, index);
    launch.descriptor_numbers = {0, 1, 2};
    if (cpus) {
      std::memcpy(launch.inherit.cpu_mask, &*cpus, sizeof *cpus);
      launch.inherit.cpu_mask_bytes = sizeof *cpus;
    }
    const base::Fd directory =
        base::checked_fd(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), "the working directory");
    const task::Started started = client_.launch(launch, {stdin_fd, 1, 2, directory.get()});
    indices_[started.pid] = static_cast<uint32_t>(index);
  }

  std::optional<Death> take_ended() override {
    const auto end = client_.poll_ended();
    if (!end) return std::nullopt;
    if (end->reason) throw *end->reason;  // the task never reached its program
    return Death{indices_.extract(end->pid).mapped(), end->pid, end->wait_status, true};
  }

  void signal_all(int signal) override {
    for (const auto& [pid, index] : indices_) client_.signal(pid, signal);
  }

 private:
  task::Client client_;
  std::map<pid_t, uint32_t> indices_;  // of those that run
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
