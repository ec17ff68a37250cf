// SPDX-License-Identifier: BSD-3-Clause
// mpi_program.h - the main() that benchmark programs by MPI share.
#pragma once

#include <mpi.h>

#include "program_main.h"

namespace nagaya::bench {

// Every rank parses and measures; rank 0 prints. A rank that fails ends the job with code 2.
template <class Measure>
int run_on_all_ranks(CLI::App& app, const Options& options, int argc, char** argv,
                     Measure measure) {
  CLI11_PARSE(app, argc, argv);
  try {
    const Result result = measure();
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) print(result, options.json);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 2;
  }
}

template <class Measure>
int run_mpi_program(CLI::App& app, const Options& options, int argc, char** argv, Measure measure) {
  MPI_Init(&argc, &argv);
  const int code = run_on_all_ranks(app, options, argc, argv, measure);
  MPI_Finalize();
  return code;
}

}  // namespace nagaya::bench
