// SPDX-License-Identifier: BSD-3-Clause
// mpi_start.cc - an MPI program that does nothing: what its job takes is the start and the end of
// the ranks (bench/starts.py).
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
}
