// SPDX-License-Identifier: BSD-3-Clause
#include "launch/launcher.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>

#include "base/random.h"
#include "command.h"
#include "doctor/doctor.h"
#include "faces/openmpi/environment.h"
#include "launch/binding.h"
#include "launch/event_loop.h"
#include "launch/pmi1_server.h"
#include "launch/pmix_library.h"
#include "launch/pmix_server.h"
#include "launch/rank_environment.h"
#include "launch/rank_processes.h"
#include "launch/session_folder.h"
#include "mpi_library.h"
#include "proxy/job.h"
#include "proxy/lone_ranks.h"
#include "proxy/take_stop.h"
#include "proxy/task_environment.h"
#include "task/load/program.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(2);  // between SIGTERM and SIGKILL, as in mpirun
constexpr auto kLateNews = std::chrono::seconds(3);
constexpr int kTickMs = 1000, kTickBeforeDeadlineMs = 50;
constexpr int kExitTimeLimit = 124;  // as of timeout(1)

int exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Returns true if the signal is ignored, as by nohup. If such a signal were blocked, the kernel
// would queue it nevertheless.
bool is_ignored(int signal) {
  struct sigaction before {};
  ::sigaction(signal, nullptr, &before);
  return before.sa_handler == SIG_IGN;
}

sigset_t handled_signals() {
  sigset_t handled;
  ::sigemptyset(&handled);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD})
    if (!is_ignored(signal)) ::sigaddset(&handled, signal);
  return handled;
}

// Makes room for the ranks' descriptors, and for libpmix on the stack. Ranks keep the limits that
// they were to inherit.
void raise_limits() {
  constexpr rlim_t kStackBytes = 8 << 20;
  for (const auto& [resource, wanted] :
       {std::pair{RLIMIT_NOFILE, RLIM_INFINITY}, std::pair{RLIMIT_STACK, kStackBytes}}) {
    rlimit limit{};
    ::getrlimit(resource, &limit);
    limit.rlim_cur = std::max(limit.rlim_cur, std::min(wanted, limit.rlim_max));
    ::setrlimit(resource, &limit);
  }
  pthread_attr_t of_threads;
  ::pthread_attr_init(&of_threads);
  ::pthread_attr_setstacksize(&of_threads, kStackBytes);
  ::pthread_setattr_default_np(&of_threads);
  ::pthread_attr_destroy(&of_threads);
}

class NodeLauncher : public LauncherServices {
 public:
  // Starts the ranks. `choice` must live longer. Throws Error.
  explicit NodeLauncher(const LaunchChoice& choice);
  int run();

  const ParallelJob& spawn(RankId parent, std::vector<Application> applications,
                           std::map<std::string, std::string> preset_values) override;
  void abort(RankId rank, int exit_code, const std::string& text) override;
  void mpi_started(RankId rank) override { note_mpi(rank, true); }
  void mpi_ended(RankId rank) override { note_mpi(rank, false); }

 private:
  struct Rank {
    RankId id;
    bool has_mpi = false;  // between MPI_Init and MPI_Finalize
    bool has_ended = false;
    bool is_cancelled = false;  // others of its job could not be started
    bool is_forgotten = false;  // with its job
  };

  uint32_t index_of(RankId rank) const { return first_ranks_[rank.job] + rank.rank; }
  void note_mpi(RankId rank, bool has_begun) {
    state_of(rank).has_mpi = has_begun;
    processes_->note_communication(index_of(rank), has_begun);
  }
  Rank& state_of(RankId rank) { return ranks_[index_of(rank)]; }
  uint32_t take_ranks(uint32_t job, uint32_t count);
  const ParallelJob& add_job(std::vector<Application> applications,
                             std::map<std::string, std::string> preset_values);
  void start_server_of_pmix();
  void start_ranks(const ParallelJob& job);
  void start(const ParallelJob& job, uint32_t rank);
  std::vector<std::string> environment_of(const ParallelJob& job, uint32_t rank);
  void remove_if_ended(const ParallelJob& job);
  void take_ends();
  void handle_doubtful_ends();
  void handle_end(const RankEnd& end);
  void read_signals();
  void end_all(int code);

  const LaunchChoice& choice_;
  const std::string name_ = "run-" + base::random_digits();
  std::unique_ptr<RankProcesses> processes_;
  SessionFolder session_{
      name_};  // once there is a host, which removes it if this process is killed
  const sigset_t handled_ = handled_signals();
  base::Fd signals_;
  EventLoop loop_;
  Streams streams_;
  Topology topology_;
  Binding binding_;
  std::deque<ParallelJob> jobs_;       // the servers keep references
  std::vector<uint32_t> first_ranks_;  // of each job, the index of its rank 0
  std::vector<Rank> ranks_;            // of all jobs; those of forgotten ones are used again
  // A rank's MPI_Finalize waits for libpmix's answer for 2 s at most. So where processors are few
  // and busy, a rank may be seen to end before libpmix's thread has told of its MPI_Finalize.
  struct DoubtfulEnd {
    RankEnd end;
    Clock::time_point until;
  };
  std::deque<DoubtfulEnd> doubtful_ends_;
  Pmi1Server pmi1_{loop_, *this};
  std::unique_ptr<PmixServer> pmix_;  // none where libpmix is not installed
  uint32_t running_ = 0;
  int code_ = 0;
  std::optional<Clock::time_point> kill_at_;
};

NodeLauncher::NodeLauncher(const LaunchChoice& choice)
    : choice_(choice),
      processes_(choice.separate ? make_ordinary_processes()
                                 : make_tasks(name_, ranks_of(choice.applications))),
      streams_(choice.streams, ranks_of(choice.applications)),
      binding_(topology_, choice.binding, ranks_of(choice.applications)) {
  raise_limits();
  ::signal(SIGXFSZ, SIG_IGN);                    // where no file may grow: an error like others
  ::sigprocmask(SIG_BLOCK, &handled_, nullptr);  // before threads start, and after the ranks' mask
  signals_ = base::checked_fd(::signalfd(-1, &handled_, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
  loop_.watch(signals_.get(), [this] { read_signals(); });
  if (processes_->fd() >= 0) loop_.watch(processes_->fd(), [] {});  // take_ends() reads it
  start_server_of_pmix();
  for (uint32_t rank = 0; choice.reports_bindings && rank < ranks_of(choice.applications); ++rank)
    complain(binding_.report_of(rank));
  start_ranks(add_job(choice.applications, {}));
}

// Returns the libpmix that the program's MPI has brought along, as that of a Python wheel does: an
// older one lacks what its clients ask for, as groups by Open MPI 5. Else the system's. Throws
// Error -ENOENT.
PmixLibrary libpmix_for(const std::vector<std::string>& command) {
  const std::string of_mpi = libpmix_of_mpi(command);
  try {
    return PmixLibrary(of_mpi.empty() ? "libpmix.so.2" : of_mpi);
  } catch (const base::Error&) {
    if (of_mpi.empty()) throw;
    return PmixLibrary("libpmix.so.2");
  }
}

void NodeLauncher::start_server_of_pmix() try {
  constexpr rlim_t kStackOfLibpmix = 512 << 10;
  rlimit stack{};
  ::getrlimit(RLIMIT_STACK, &stack);
  if (stack.rlim_cur < kStackOfLibpmix) return;  // neither has an MPI room there
  const PmixLibrary library = libpmix_for(choice_.applications[0].command);
  pmix_ = std::make_unique<PmixServer>(loop_, *this, library, session_.path(), topology_.get());
} catch (const base::Error& error) {
  if (error.code() != -ENOENT) throw;
  if (ranks_of(choice_.applications) > 1) tell_of_missing_pmix(choice_.applications[0].command);
}

// Returns the index of the first of `count` ranks in a row, which are now the job's.
uint32_t NodeLauncher::take_ranks(uint32_t job, uint32_t count) {
  const auto found = std::search_n(ranks_.begin(), ranks_.end(), count, true,
                                   [](const Rank& rank, bool) { return rank.is_forgotten; });
  const auto first = static_cast<uint32_t>(found - ranks_.begin());
  if (found == ranks_.end()) ranks_.resize(ranks_.size() + count);
  for (uint32_t rank = 0; rank < count; ++rank) ranks_[first + rank] = {{job, rank}};
  return first;
}

const ParallelJob& NodeLauncher::add_job(std::vector<Application> applications,
                                         std::map<std::string, std::string> preset_values) {
  const auto id = static_cast<uint32_t>(jobs_.size());
  const uint32_t size = ranks_of(applications);
  const uint32_t processors = std::max(std::thread::hardware_concurrency(), 1u);
  const ParallelJob& job =
      jobs_.emplace_back(ParallelJob{.id = id,
                                     .name = kNamesOfRun + base::random_digits(),
                                     .applications = std::move(applications),
                                     .universe_size = std::max(processors, size),
                                     .is_oversubscribed = running_ + size > processors,
                                     .preset_values = std::move(preset_values)});
  first_ranks_.push_back(take_ranks(id, size));
  session_.add_segments(openmpi::segments_of(job.name));
  pmi1_.add(job);
  PmixServer::Bindings bindings(size);
  for (uint32_t rank = 0; id == 0 && rank < size; ++rank) bindings[rank] = binding_.list_of(rank);
  if (pmix_) pmix_->add(job, bindings);
  return job;
}

// Throws CannotRun: a variable asks for something that does not exist.
void make_environment_of_rank(std::vector<std::string>& environment) try {
  make_environment_of_task(environment);
} catch (const base::Error& error) {
  throw CannotRun(error);
}

std::vector<std::string> NodeLauncher::environment_of(const ParallelJob& job, uint32_t rank) {
  std::vector<std::string> environment = task::own_environment();
  std::erase_if(environment, is_of_outer_launcher);
  const auto add = [&](const std::vector<std::string>& variables) {
    for (const std::string& variable : variables) set_variable(environment, variable);
  };
  add(job.applications[job.application_of(rank)].environment);
  add(environment_of_rank(job, rank));
  if (pmix_) add(pmix_->environment_of({job.id, rank}));
  add({"PMI_FD=" + std::to_string(kPmi1Descriptor)});
  add(processes_->environment());
  return environment;
}

void NodeLauncher::start(const ParallelJob& job, uint32_t rank) {
  const Application& application = job.applications[job.application_of(rank)];
  const RankId id{job.id, rank};
  const base::Fd pmi1 = pmi1_.connect(id);
  RankStart start;
  start.index = index_of(id);
  start.command = application.command;
  start.command[0] = name_in(application.directory, application.command[0]);
  start.directory = application.directory;
  if (job.id == 0) start.processors = binding_.cpus_of(rank);
  start.environment = environment_of(job, rank);
  if (!choice_.separate) make_environment_of_rank(start.environment);
  const RankStreams streams = streams_.open(job, rank);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    start.descriptors.emplace_back(streams.descriptors[static_cast<size_t>(stream)], stream);
  start.descriptors.emplace_back(pmi1.get(), kPmi1Descriptor);
  start.kept_descriptor = kPmi1Descriptor;
  start.may_choose_number = job.id != 0;
  processes_->start(start);
  ++running_;
}

void NodeLauncher::start_ranks(const ParallelJob& job) {
  uint32_t rank = 0;
  try {
    for (; rank < job.size(); ++rank) start(job, rank);
  } catch (const std::exception&) {
    for (uint32_t other = rank; other < job.size(); ++other)
      state_of({job.id, other}).has_ended = true;
    while (rank-- > 0) {
      state_of({job.id, rank}).is_cancelled = true;
      processes_->signal(index_of({job.id, rank}), SIGKILL);
    }
    remove_if_ended(job);
    throw;
  }
}

const ParallelJob& NodeLauncher::spawn(RankId, std::vector<Application> applications,
                                       std::map<std::string, std::string> preset_values) {
  const ParallelJob& job = add_job(std::move(applications), std::move(preset_values));
  start_ranks(job);
  return job;
}

void NodeLauncher::abort(RankId, int exit_code, const std::string&) {
  end_all(exit_code != 0 ? exit_code : 1);
}

void NodeLauncher::end_all(int code) {
  if (code_ == 0) code_ = code;
  if (kill_at_) return;
  processes_->signal_all(SIGTERM);
  kill_at_ = Clock::now() + kGrace;
}

// Prints a line if a hard limit of addresses may be why a rank has failed. An MPI seldom says so.
void tell_of_address_limit(uint32_t ranks) {
  const std::optional<uint64_t> limit = doctor::least_hard_limit();
  if (!limit || doctor::address_limit({ranks}).level == doctor::Level::kOk) return;
  complain(
      fmt::format("a hard ulimit -v or -d of {} MiB holds for all tasks together (`nagaya "
                  "doctor -n {}` says what they need)",
                  *limit >> 20, ranks));
}

void NodeLauncher::handle_end(const RankEnd& end) {
  Rank& rank = ranks_[end.index];
  rank.has_ended = true;
  --running_;
  remove_if_ended(jobs_[rank.id.job]);
  if (code_ != 0 || kill_at_ || rank.is_cancelled) return;
  const std::string consequence = running_ == 0   ? ""
                                  : running_ == 1 ? "; ending the other one"
                                                  : fmt::format("; ending the {} others", running_);
  if (end.death.wait_status != 0) {
    Death death = end.death;
    death.rank = static_cast<int>(rank.id.rank);
    if (running_ != 0 || WIFSIGNALED(death.wait_status)) tell_of(death, consequence.c_str());
    if (end.death.in_space) tell_of_address_limit(ranks_of(choice_.applications));
    code_ = exit_code(end.death.wait_status);
    if (running_ != 0) end_all(code_);
  } else if (rank.has_mpi && running_ != 0) {
    complain(fmt::format("rank {} has ended without MPI_Finalize{}", rank.id.rank, consequence));
    end_all(1);
  }
}

// A program that spawns one job after another must not cost more and more.
void NodeLauncher::remove_if_ended(const ParallelJob& job) {
  const auto first = ranks_.begin() + first_ranks_[job.id];
  if (job.id == 0 ||
      !std::all_of(first, first + job.size(), [](const Rank& rank) { return rank.has_ended; }))
    return;
  for (uint32_t rank = 0; rank < job.size(); ++rank) {
    state_of({job.id, rank}).is_forgotten = true;
    processes_->forget(index_of({job.id, rank}));
  }
  pmi1_.remove(job.id);
  if (pmix_) pmix_->remove(job.id);
}

void NodeLauncher::take_ends() {
  while (const auto end = processes_->take_ended()) {
    if (end->death.wait_status == 0 && ranks_[end->index].has_mpi && running_ > 1)
      doubtful_ends_.push_back({*end, Clock::now() + kLateNews});
    else
      handle_end(*end);
  }
  handle_doubtful_ends();
}

void NodeLauncher::handle_doubtful_ends() {
  for (auto doubtful = doubtful_ends_.begin(); doubtful != doubtful_ends_.end();) {
    const bool is_clear =
        !ranks_[doubtful->end.index].has_mpi || kill_at_ || Clock::now() > doubtful->until;
    if (!is_clear) {
      ++doubtful;
      continue;
    }
    const RankEnd end = doubtful->end;
    doubtful = doubtful_ends_.erase(doubtful);
    handle_end(end);
  }
}

void NodeLauncher::read_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
      end_all(128 + signal);
    else if (info.ssi_code != SI_KERNEL)
      processes_->signal_all(signal);
    if (signal == SIGTSTP) take_stop(signal);
  }
}

int NodeLauncher::run() {
  const auto begin = Clock::now();
  for (take_ends(); running_ > 0; take_ends()) {
    const bool has_deadline = kill_at_ || choice_.time_limit || !doubtful_ends_.empty();
    loop_.serve_once(has_deadline ? kTickBeforeDeadlineMs : kTickMs);
    if (choice_.time_limit && !kill_at_ && Clock::now() - begin > *choice_.time_limit) {
      complain(fmt::format("the job has reached its limit of {} seconds; ending it",
                           choice_.time_limit->count()));
      end_all(kExitTimeLimit);
    }
    if (kill_at_ && Clock::now() > *kill_at_) processes_->signal_all(SIGKILL);
  }
  ::sigprocmask(SIG_UNBLOCK, &handled_, nullptr);  // the rest may wait for a slow reader
  streams_.finish();
  return code_;
}

}  // namespace

uint32_t ranks_of(const std::vector<Application>& applications) {
  ParallelJob job;
  job.applications = applications;
  return job.size();
}

int run_job(const LaunchChoice& choice) {
  fill_standard_streams();
  ::signal(SIGCHLD, SIG_DFL);  // if it stayed ignored, waitpid would get no status of children
  return NodeLauncher(choice).run();
}

}  // namespace nagaya::tools
