// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "command.h"
#include "launch/rank_processes.h"
#include "task/load/program.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

// Gives the descriptors their numbers. The last of them is the highest.
void place(const std::vector<std::pair<int, int>>& descriptors) {
  const int above = descriptors.back().second + 1;
  std::vector<int> copies;
  for (const auto& [own, number] : descriptors)
    copies.push_back(::fcntl(own, F_DUPFD_CLOEXEC, above));
  for (size_t n = 0; n < descriptors.size(); ++n) ::dup2(copies[n], descriptors[n].second);
}

void check(const RankStart& rank) try {
  task::resolve_interpreter(rank.command[0], {}, rank.environment);
} catch (const base::Error& error) {
  throw CannotRun(error);
}

class OrdinaryProcesses : public RankProcesses {
 public:
  OrdinaryProcesses() {
    ::sigprocmask(SIG_SETMASK, nullptr, &mask_);
    file_size_handler_ = ::signal(SIGXFSZ, SIG_DFL);
    ::signal(SIGXFSZ, file_size_handler_);
    for (auto& [resource, limit] : limits_) ::getrlimit(resource, &limit);
  }
  ~OrdinaryProcesses() override { signal_all(SIGKILL); }

  void start(const RankStart& rank) override {
    check(rank);
    const std::vector<char*> argv = argv_of(rank.command);
    const std::vector<char*> envp = argv_of(rank.environment);
    const pid_t pid = ::fork();
    if (pid < 0) base::throw_errno("fork");
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      place(rank.descriptors);
      if (rank.processors) ::sched_setaffinity(0, sizeof *rank.processors, &*rank.processors);
      ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
      for (const auto& [resource, limit] : limits_) ::setrlimit(resource, &limit);
      ::signal(SIGXFSZ, file_size_handler_);
      std::string cause = rank.command[0];
      if (!rank.directory.empty() && ::chdir(rank.directory.c_str()) != 0)
        cause = rank.directory;
      else
        ::execvpe(argv[0], argv.data(), envp.data());
      const int error = errno;
      complain(cause + ": " + std::strerror(error));
      ::_exit(error == ENOENT ? kExitNotFound : kExitCannotRun);
    }
    indices_[pid] = rank.index;
  }

  std::optional<RankEnd> take_ended() override {
    int status;
    pid_t pid;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0)
      if (const auto own = indices_.extract(pid))  // else a child from before this process's exec
        return RankEnd{own.mapped(), {-1, own.mapped(), pid, status, false}};
    return std::nullopt;
  }

  // XcalableMP programs that are linked for a job are alone then, each of them.
  std::vector<std::string> environment() const override { return {"NAGAYA_SEPARATE=1"}; }

  void signal(uint32_t index, int signal) override {
    for (const auto& [pid, own] : indices_)
      if (own == index) ::kill(pid, signal);
  }

  void signal_all(int signal) override {
    for (const auto& [pid, index] : indices_) ::kill(pid, signal);
  }

  void forget(uint32_t) override {}
  void note_communication(uint32_t, bool) override {}

  int fd() const override { return -1; }

 private:
  std::map<pid_t, uint32_t> indices_;  // of those that run
  sigset_t mask_;                      // of signals, for the ranks
  sighandler_t file_size_handler_;
  // Limits that the launcher changes for itself.
  std::pair<__rlimit_resource, rlimit> limits_[2] = {{RLIMIT_NOFILE, {}}, {RLIMIT_STACK, {}}};
};

}  // namespace

std::unique_ptr<RankProcesses> make_ordinary_processes() {
  return std::make_unique<OrdinaryProcesses>();
}

}  // namespace nagaya::tools
