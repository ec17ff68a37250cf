// SPDX-License-Identifier: BSD-3-Clause
// memory.cc - a job whose memory the driver measures (memory.py): all ranks exchange 2 KiB with
// each other and then keep their memory, as in the PVAS paper's figures 14 and 15.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "mpi_program.h"

namespace nagaya::bench {
namespace {

using Number = uint64_t;
constexpr size_t kBytes = 2048;
constexpr size_t kNumbers = kBytes / sizeof(Number);
constexpr int kTurns = 5, kQuickTurns = 2;
constexpr std::chrono::milliseconds kTick{10};

class Job {
 public:
  explicit Job(const Options& options) : options_(options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    send_.resize(static_cast<size_t>(size_) * kNumbers);
    receive_.resize(send_.size());
  }

  // Exchanges an empty message with one rank after the other; the lower one of each pair sends
  // first. So Open MPI's tcp opens one connection for each pair. In an alltoall all ranks open
  // connections at once and in both directions, each with a port of its own: 240 ranks need more
  // ports than there are.
  void meet() const {
    for (int turn = 0; turn < size_; ++turn) {
      const int other = (turn - rank_ + size_) % size_;
      if (other > rank_) send_to(other), receive_from(other);
      if (other < rank_) receive_from(other), send_to(other);
    }
  }

  Result measure() {
    const int turns = options_.quick ? kQuickTurns : kTurns;
    double time_s = 0;
    for (int turn = 0; turn < turns; ++turn) time_s += exchange(static_cast<Number>(turn));
    return {.program = "memory",
            .quick = options_.quick,
            .figures =
                {{"time", "alltoall of 2 KiB", "ms", {"this job", {time_s * 1e3 / turns}}, {}, {}}},
            .derived = {}};
  }

  // Rank 0 reports that all ranks have arrived, and no rank goes on before rank 0's standard input
  // ends. No rank spins meanwhile: the driver needs a processor.
  void hold() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) {
      fmt::print("ready\n");
      std::fflush(stdout);
      for (char byte; ::read(STDIN_FILENO, &byte, 1) > 0;) {
      }
    }
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int is_over = 0; !is_over;) {
      MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
      if (!is_over) std::this_thread::sleep_for(kTick);
    }
  }

 private:
  double exchange(Number turn) {
    for (size_t n = 0; n < send_.size(); ++n) send_[n] = mark(turn, rank_, n);
    if (options_.corrupt) send_[0] ^= 1;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = MPI_Wtime();
    MPI_Alltoall(send_.data(), kNumbers, MPI_UINT64_T, receive_.data(), kNumbers, MPI_UINT64_T,
                 MPI_COMM_WORLD);
    const double time_s = MPI_Wtime() - start_s;
    for (size_t n = 0; n < receive_.size(); ++n) {
      const size_t in_block = static_cast<size_t>(rank_) * kNumbers + n % kNumbers;
      if (receive_[n] != mark(turn, static_cast<int>(n / kNumbers), in_block))
        throw std::runtime_error("wrong data of an alltoall");
    }
    return time_s;
  }

  static void send_to(int rank) { MPI_Send(nullptr, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD); }
  static void receive_from(int rank) {
    MPI_Recv(nullptr, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

  // Returns number `n` of the data that a rank sends in a turn.
  static Number mark(Number turn, int rank, size_t n) {
    return (turn << 48) + (static_cast<Number>(rank) << 32) + n;
  }

  Options options_;
  int rank_, size_;
  std::vector<Number> send_, receive_;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  bool is_held = false, meets = false;
  CommandLine line("A job of alltoalls of 2 KiB", "memory", options);
  line.add_flag("--meet", meets, "First exchange an empty message with one rank after the other");
  line.add_flag("--hold", is_held,
                "Say `ready` after the last alltoall and wait for the end of standard input");
  return run_mpi_program(line, options, argc, argv, [&] {
    Job job(options);
    if (meets) job.meet();
    const Result result = job.measure();
    if (is_held) job.hold();
    return result;
  });
}
