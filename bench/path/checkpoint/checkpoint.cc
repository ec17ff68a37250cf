// SPDX-License-Identifier: BSD-3-Clause
// checkpoint.cc - a checkpoint of all ranks while they compute: the time that they lose, that is
// how much longer the same computation takes with a checkpoint that ends within it, and the time of
// a checkpoint alone. Each checkpoint is a new file, and on the storage at its end.
#include "checkpoint.h"

#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "program_main.h"

namespace nagaya::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kBytes = 64 << 20, kQuickBytes = 1 << 20, kPageBytes = 4096;
constexpr double kSecondsPerMiB = 0.005;  // of computation, for all ranks together
constexpr double kLeastSeconds = 0.001;   // of a difference
constexpr int kLoops = 1000;

double processor_seconds() {
  timespec now;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Work of a fixed amount, in a processor's own cache.
class Computation {
 public:
  explicit Computation(double seconds) {
    constexpr double kTrialSeconds = 0.05;
    const double begin = processor_seconds();
    int turns = 0;
    for (; processor_seconds() < begin + kTrialSeconds; ++turns) turn();
    turns_ = static_cast<int>(turns * seconds / kTrialSeconds) + 1;
  }
  void run() {
    for (int n = 0; n < turns_; ++n) turn();
  }

 private:
  void turn() {
    for (int n = 0; n < kLoops; ++n)
      for (double& value : values_) value = value * 0.999999 + 1e-9;
  }

  int turns_ = 0;
  std::vector<double> values_ = std::vector<double>(64, 1.0);
};

class Bench {
 public:
  Bench(const Options& options, Checkpoints& checkpoints)
      : options_(options),
        checkpoints_(checkpoints),
        data_(options.quick ? kQuickBytes : kBytes),
        computation_(own_seconds()) {}

  Result measure() {
    Result result{.program = "checkpoint", .quick = options_.quick, .figures = {}, .derived = {}};
    for (int round = 0; round < options_.rounds_or(5, 1); ++round) {
      const double alone = timed([&] { computation_.run(); });
      double in_calls = 0;
      const double both = timed([&] {
        in_calls += seconds_of([&] { checkpoints_.start(data_.data(), data_.size()); });
        computation_.run();
        checkpoints_.barrier();
        in_calls += seconds_of([&] { checkpoints_.finish(); });
      });
      in_calls = checkpoints_.mean(in_calls);
      check();
      const double checkpoint = timed([&] {
        checkpoints_.start(data_.data(), data_.size());
        checkpoints_.finish();
      });
      check();
      add_round(result, {figure("lost", "lost by the ranks", std::max(both - alone, kLeastSeconds)),
                         figure("in_calls", "of that in the calls", in_calls),
                         figure("alone", "alone", checkpoint)});
    }
    return result;
  }

 private:
  double own_seconds() const {
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    const double share = std::min(1.0, 1.0 * CPU_COUNT(&set) / checkpoints_.size);
    return kSecondsPerMiB * static_cast<double>(data_.size() >> 20) * checkpoints_.size * share;
  }

  Figure figure(const std::string& name, const std::string& what, double seconds) const {
    const std::string title = fmt::format("checkpoint of {} ranks, {}", checkpoints_.size, what);
    return {name, title, "s", {kWriter, {seconds}}, {}, {}};
  }

  template <class Work>
  static double seconds_of(Work work) {
    const Clock::time_point begin = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
  // Returns how long all ranks together take for work(), which begins with new content.
  template <class Work>
  double timed(Work work) {
    ++turn_;
    for (size_t at = 0; at < data_.size(); at += kPageBytes) data_[at] = mark(at);
    if (checkpoints_.rank == 0) ::unlink(kPath);
    checkpoints_.barrier();
    return seconds_of([&] {
      work();
      checkpoints_.barrier();
    });
  }

  std::byte mark(size_t at) const {
    return static_cast<std::byte>(turn_ * 31 + static_cast<size_t>(checkpoints_.rank) * 7 +
                                  at / kPageBytes + 1);
  }
  void check() {
    const int fd = ::open(kPath, O_RDONLY | O_CLOEXEC);
    std::vector<std::byte> there(data_.size());
    const auto offset = static_cast<off_t>(checkpoints_.offset(data_.size()));
    const ssize_t bytes = ::pread(fd, there.data(), there.size(), offset);
    ::close(fd);
    bool is_right = bytes == static_cast<ssize_t>(there.size()) && !options_.corrupt;
    for (size_t at = 0; is_right && at < there.size(); at += kPageBytes)
      is_right = there[at] == mark(at);
    if (!is_right)
      throw std::runtime_error(fmt::format("wrong data of rank {}", checkpoints_.rank));
    checkpoints_.barrier();
  }

  const Options& options_;
  Checkpoints& checkpoints_;
  std::vector<std::byte> data_;
  Computation computation_;
  size_t turn_ = 0;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  CommandLine line("A checkpoint of all ranks to one file while they compute", "checkpoint",
                   options);
  bool starts = false;
  line.add_flag("--requests", starts, "MPI_File_iwrite_at in place of MPI_File_write_at_all");
  line.parse(argc, argv);
  std::unique_ptr<Checkpoints> checkpoints;
  try {
    checkpoints = open_checkpoints(starts);
    const Result result = Bench(options, *checkpoints).measure();
    if (checkpoints->rank == 0) {
      ::unlink(kPath);
      print(result, options.json);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "checkpoint: {}\n", error.what());
    std::_Exit(2);  // the end of `checkpoints` would wait for the other ranks
  }
}
