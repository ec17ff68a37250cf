// SPDX-License-Identifier: BSD-3-Clause
// mpi_program.h - the main() of benchmark programs that use MPI.
#pragma once

#include <mpi.h>

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

}  // namespace nagaya::bench
