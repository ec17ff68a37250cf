// SPDX-License-Identifier: BSD-3-Clause
// memory.cc - a job whose memory the driver measures (memory.py): all ranks exchange 2 KiB, or as
// much as --bytes says, with each other and then keep their memory, as in the PVAS paper's figures
// 14 and 15.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "mpi_program.h"

namespace nagaya::bench {
namespace {

using Number = uint64_t;
constexpr int kBytes = 2048, kMostBytes = 1 << 20;
constexpr int kTurns = 5, kQuickTurns = 2;
constexpr std::chrono::milliseconds kTick{10};

class Job {
 public:
  Job(const Options& options, int bytes)
      : options_(options), numbers_(static_cast<size_t>(bytes) / sizeof(Number)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    send_.resize(static_cast<size_t>(size_) * numbers_);
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
            .figures = {{"time",
                         fmt::format("alltoall of {} KiB", numbers_ * sizeof(Number) >> 10),
                         "ms",
                         {"this job", {time_s * 1e3 / turns}},
                         {},
                         {}}},
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
    const int count = static_cast<int>(numbers_);
    MPI_Alltoall(send_.data(), count, MPI_UINT64_T, receive_.data(), count, MPI_UINT64_T,
                 MPI_COMM_WORLD);
    const double time_s = MPI_Wtime() - start_s;
    for (size_t n = 0; n < receive_.size(); ++n) {
      const size_t in_block = static_cast<size_t>(rank_) * numbers_ + n % numbers_;
      if (receive_[n] != mark(turn, static_cast<int>(n / numbers_), in_block))
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

  const Options options_;
  const size_t numbers_;  // that a rank sends to each other one
  int rank_, size_;
  std::vector<Number> send_, receive_;
};

}  // namespace
}  // namespace nagaya::bench

int main(int argc, char** argv) {
  using namespace nagaya::bench;
  Options options;
  bool is_held = false, meets = false;
  int bytes = kBytes;
  CommandLine line("A job of alltoalls", "memory", options);
  line.add_number("--bytes", bytes, 1024, kMostBytes, "for each rank, a multiple of 1024");
  line.add_flag("--meet", meets, "First exchange an empty message with one rank after the other");
  line.add_flag("--hold", is_held,
                "Say `ready` after the last alltoall and wait for the end of standard input");
  return run_mpi_program(line, options, argc, argv, [&] {
    Job job(options, bytes);
    if (meets) job.meet();
    const Result result = job.measure();
    if (is_held) job.hold();
    return result;
  });
}
