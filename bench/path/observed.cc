// SPDX-License-Identifier: BSD-3-Clause
// observed.cc - the ping-pong of 8 B between two ranks of a job while nobody reads what they do,
// while `nagaya top` does, and while `nagaya trace` does, by turns within one job. Rank 0 starts
// the reader and ends it.
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mpi_program.h"

namespace nagaya::bench {
namespace {

// A program that reads the job's activity while this object lives; of no words: none.
class Reader {
 public:
  explicit Reader(const std::vector<std::string>& words) {
    if (words.empty()) return;
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO})
      ::posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_WRONLY, 0);
    // A shell makes its commands in the background ignore SIGINT, which ends the reader.
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t of_default;
    ::sigemptyset(&of_default);
    ::sigaddset(&of_default, SIGINT);
    ::posix_spawnattr_setsigdefault(&attributes, &of_default);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    const int error = ::posix_spawn(&pid_, argv[0], &files, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::runtime_error(words[0] + " cannot be started");
  }
  ~Reader() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGINT);
    ::waitpid(pid_, nullptr, 0);
  }
  Reader(const Reader&) = delete;

 private:
  pid_t pid_ = 0;
};

class Bench {
 public:
  Bench(const Options& options, bool is_alone) : options_(options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (is_alone) return;
    // This program is libexec/nagaya/bench/observed of an installation or a build.
    const auto root = std::filesystem::read_symlink("/proc/self/exe") / "../../../..";
    const std::string command = root.lexically_normal() / "bin/nagaya";
    readers_.push_back({"top", {command, "top", "-d", "0.5"}});
    readers_.push_back({"trace", {command, "trace", "-o", "/dev/null"}});
  }

  Result measure() {
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) throw std::runtime_error("it takes two ranks");
    Result result{.program = "observed", .quick = options_.quick, .figures = {}, .derived = {}};
    for (int round = 0; round < options_.rounds_or(15, 1); ++round) measure_round(result);
    return result;
  }

 private:
  struct Kind {
    std::string name;
    std::vector<std::string> words;
  };

  // The time with nobody is measured before each reader's and after it.
  void measure_round(Result& result) {
    std::vector<Figure> figures;
    double nobody = beside({});
    figures.push_back({"pingpong_8B",
                       "ping-pong of 8 B, nobody reads",
                       "us one way",
                       {"nobody", {nobody}},
                       std::nullopt,
                       std::nullopt});
    for (const Kind& kind : readers_) {
      const double read = beside(kind.words), after = beside({});
      figures.push_back({"pingpong_8B_" + kind.name,
                         "the same while nagaya " + kind.name + " reads",
                         "us one way",
                         {kind.name, {read}},
                         Series{"nobody", {(nobody + after) / 2}},
                         std::nullopt});
      nobody = after;
    }
    add_round(result, std::move(figures));
  }

  // Returns the time of a message while a program with these words reads [us].
  double beside(const std::vector<std::string>& words) {
    constexpr auto kStart = std::chrono::milliseconds(400);  // the reader starts
    const Reader reader(rank_ == 0 ? words : std::vector<std::string>{});
    if (!words.empty()) std::this_thread::sleep_for(kStart);
    MPI_Barrier(MPI_COMM_WORLD);
    const double time = pingpong();
    MPI_Barrier(MPI_COMM_WORLD);
    return time;
  }

  double pingpong() {
    const int turns = options_.quick ? 1000 : 500'000;
    const double begin = MPI_Wtime();
    for (int n = 0; n < turns; ++n) {
      if (rank_ == 0) send(n);
      receive(n);
      if (rank_ == 1) send(n);
    }
    return (MPI_Wtime() - begin) / turns / 2 * 1e6;
  }
  void send(int turn) const {
    const uint64_t data = static_cast<uint64_t>(turn) * 2 + options_.corrupt;
    MPI_Send(&data, 8, MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD);
  }
  void receive(int turn) const {
    uint64_t data = 0;
    MPI_Recv(&data, 8, MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (data != static_cast<uint64_t>(turn) * 2) throw std::runtime_error("wrong data");
  }

  const Options& options_;
  std::vector<Kind> readers_;
  int rank_ = 0;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  bool is_alone = false;
  CommandLine line("Ping-pong of 8 B while nobody, nagaya top or nagaya trace reads", "observed",
                   options);
  line.add_flag("--alone", is_alone, "Nobody reads");
  return run_mpi_program(line, options, argc, argv,
                         [&] { return Bench(options, is_alone).measure(); });
}
