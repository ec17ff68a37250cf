/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_shim.c - compiled once for each MPI, with its mpi.h. It is not linked with that MPI: the
 * program is. */
#include <mpi.h>
#include <stddef.h>

#include "faces/blacs/mpi.h"

static void init(void) {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  if (!is_initialized) MPI_Init(NULL, NULL);
}

static void finalize(void) {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (!is_finalized) MPI_Finalize();
}

static void end_all(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
}

static int has_threads(void) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

static int world(void) {
  return (int)MPI_Comm_c2f(MPI_COMM_WORLD);
}

static int size(int comm) {
  int size = 0;
  MPI_Comm_size(MPI_Comm_f2c(comm), &size);
  return size;
}

static int rank(int comm) {
  int rank = 0;
  MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
  return rank;
}

static int allgather(int comm, const void* own, int bytes, void* all) {
  return MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_Comm_f2c(comm));
}

/* A handle is an int or a pointer. */
static int from_c(uintptr_t comm) {
  return (int)MPI_Comm_c2f((MPI_Comm)comm);
}

static uintptr_t to_c(int comm) {
  return (uintptr_t)MPI_Comm_f2c(comm);
}

__attribute__((visibility("default"))) const nagaya_blacs_mpi* nagaya_blacs_mpi_functions(void) {
  static const nagaya_blacs_mpi functions = {init, finalize, end_all,   has_threads, world,
                                             size, rank,     allgather, from_c,      to_c};
  return &functions;
}
