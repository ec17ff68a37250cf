// SPDX-License-Identifier: BSD-3-Clause
// mpi_program.h - the main() of benchmark programs that use MPI, and how often they repeat.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <functional>

#include "program_main.h"

namespace nagaya::bench {

// Every rank parses and measures; rank 0 prints. A rank that fails ends the job with code 2.
// `finish` is called right before MPI_Finalize().
template <class Measure>
int run_mpi_program(CommandLine& line, const Options& options, int argc, char** argv,
                    Measure measure, void (*finish)() = nullptr) {
  line.parse(argc, argv);
  MPI_Init(&argc, &argv);
  try {
    const Result result = measure();
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) print(result, options.json);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", line.name(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
  if (finish != nullptr) finish();
  MPI_Finalize();
  return 0;
}

constexpr const char* kLimitHelp =
    "No more turns at a time than fit into so many ms, as far as 4 do";

// Returns the number of turns, of `most` or less, that take about `limit_ms` at the pace of a few
// trial turns; the same number in all ranks. A limit of 0: `most`. Ranks that spin on a crowded
// processor take a time slice for what takes ranks that yield a microsecond.
inline int turns_within(int limit_ms, int most, const std::function<void(int turns)>& act) {
  constexpr int kTrialTurns = 4;
  if (limit_ms == 0 || most <= kTrialTurns) return most;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  act(kTrialTurns);
  double time = MPI_Wtime() - begin, longest = 0;
  MPI_Allreduce(&time, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double fitting = limit_ms * 1e-3 / longest * kTrialTurns;
  return std::clamp(static_cast<int>(std::min<double>(fitting, most)), kTrialTurns, most);
}

}  // namespace nagaya::bench
