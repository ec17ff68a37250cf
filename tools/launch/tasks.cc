// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "base/random.h"
#include "launch/rank_processes.h"
#include "proxy/departure.h"
#include "proxy/job.h"
#include "proxy/program_role.h"
#include "proxy/task_environment.h"
#include "task/host/client.h"
#include "task/host/inheritance.h"
#include "task/load/program.h"

namespace nagaya::tools {
namespace {

task::Job job_of_launcher(const std::string& name, uint32_t count) {
  task::Job job;
  base::fill_random(job.key);
  job.name = name;
  job.group = "launcher";
  job.group_tasks = count;
  job.launcher_pid = ::getpid();
  job.keeps_tasks = true;
  return job;
}

base::Fd directory_of(const RankStart& rank) try {
  const char* const path = rank.directory.empty() ? "." : rank.directory.c_str();
  return base::checked_fd(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), path);
} catch (const base::Error& error) {
  throw CannotRun(error);
}

class Tasks : public RankProcesses {
 public:
  Tasks(const std::string& job, uint32_t count)
      : client_(task::Client::join(job_of_launcher(job, count))),
        inherit_(task::inherit_from_this_process()) {}
  ~Tasks() override { client_.end_job(); }

  void start(const RankStart& rank) override {
    task::Launch launch;
    launch.text = text_of(rank);
    launch.inherit = inherit_;
    if (rank.processors) {
      static_assert(sizeof(cpu_set_t) <= sizeof launch.inherit.cpu_mask);
      std::memcpy(launch.inherit.cpu_mask, &*rank.processors, sizeof(cpu_set_t));
      launch.inherit.cpu_mask_bytes = sizeof(cpu_set_t);
    }
    const Guess guess = guess_role(launch.text);
    preload_face_into(launch.text, guess);
    launch.stands_for = stands_for(guess, rank.index);
    launch.wanted_number = rank.may_choose_number ? -1 : wanted_number(guess, rank.index);
    launch.rank_descriptor = rank.kept_descriptor;
    std::vector<int> descriptors;
    for (const auto& [own, number] : rank.descriptors) {
      descriptors.push_back(own);
      launch.descriptor_numbers.push_back(number);
    }
    const base::Fd directory = directory_of(rank);
    descriptors.push_back(directory.get());
    const task::Started started = client_.launch(launch, descriptors);
    indices_[started.pid] = rank.index;
    tell_overseen(client_, rank.index, launch.text.program, guess);
  }

  std::optional<RankEnd> take_ended() override {
    const std::optional<task::End> end = client_.poll_ended();
    if (!end) return std::nullopt;
    const auto ended = indices_.extract(end->pid);
    if (ended.empty()) throw base::Error(-EPROTO, "the end of a task that never began");
    if (end->reason) throw *end->reason;
    ended_[ended.mapped()] = end->number;
    return RankEnd{ended.mapped(), {-1, end->number, end->pid, end->wait_status, true}};
  }

  std::vector<std::string> environment() const override {
    return {kHostOfRun + ("=" + client_.socket_path())};
  }

  void signal(uint32_t index, int signal) override {
    for (const auto& [pid, own] : indices_)
      if (own == index) client_.signal(pid, signal);
  }

  void signal_all(int signal) override {
    for (const auto& [pid, index] : indices_) client_.signal(pid, signal);
  }

  // Keeps the memory of the last ones: a rank of another job may be about to read it.
  void forget(uint32_t index) override {
    constexpr size_t kKept = 16;
    note_communication(index, false);
    if (const auto ended = ended_.extract(index)) forgotten_.push_back(ended.mapped());
    for (; forgotten_.size() > kKept; forgotten_.pop_front()) client_.waited(forgotten_.front());
  }

  void note_communication(uint32_t index, bool has_begun) override {
    client_.tell_communication({static_cast<int32_t>(index), has_begun ? 1u : 0u});
  }

  int fd() const override { return client_.fd(); }

 private:
  static void preload_face_into(task::ProgramText& text, const Guess& guess) try {
    preload_mpi_face(text, guess);
  } catch (const base::Error& error) {
    throw CannotRun(error);
  }

  task::ProgramText text_of(const RankStart& rank) try {
    return programs_.resolve(rank.command[0], {rank.command.begin() + 1, rank.command.end()},
                             rank.environment);
  } catch (const base::Error& error) {
    throw CannotRun(error);
  }

  task::Client client_;
  task::Inheritance inherit_;
  task::ProgramCache programs_;
  std::map<pid_t, uint32_t> indices_;   // of those that run
  std::map<uint32_t, uint32_t> ended_;  // task numbers by index
  std::deque<uint32_t> forgotten_;      // task numbers
};

}  // namespace

std::unique_ptr<RankProcesses> make_tasks(const std::string& job, uint32_t count) {
  return std::make_unique<Tasks>(job, count);
}

}  // namespace nagaya::tools
