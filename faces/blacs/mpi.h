/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h - the calls of libnagaya-blacs to the MPI of its process. There is one shim for each binary
 * interface of an MPI, which is loaded when that MPI is found. Communicators are named by their
 * Fortran handles. */
#ifndef NAGAYA_BLACS_MPI_H
#define NAGAYA_BLACS_MPI_H

#include <stdint.h>

/* Returns when is_over(context) is nonzero; advances all other communication meanwhile. */
typedef void nagaya_blacs_wait(int (*is_over)(void* context), void* context);

typedef struct nagaya_blacs_mpi {
  /* Initialises MPI, unless that has been done. */
  void (*init)(void);
  void (*finalize)(void); /* does nothing if that has been done */
  void (*abort)(int code);
  int (*has_threads)(void); /* several may call MPI at once; call after init(), as all below */
  int (*world)(void);
  int (*size)(int comm);
  int (*rank)(int comm);
  /* Gathers `bytes` bytes of each process, by rank, and waits by `wait`. Collective among the
   * communicator's processes. Returns 0, or MPI's error. */
  int (*allgather)(int comm, const void* own, int bytes, void* all, nagaya_blacs_wait* wait);
  /* Translates `count` ranks of `from` to ranks in MPI_COMM_WORLD. Returns 0 if one is missing. */
  int (*translate)(int from, const int* ranks, int count, int* out);
  /* Makes a communicator of `count` ranks of `from`; all of these ranks call it, with the same tag.
   * Returns 0, or MPI's error. */
  int (*make_group)(int from, const int* ranks, int count, int tag, int* out);
  void (*free)(int comm); /* does nothing if MPI has ended */
  void (*progress)(void); /* advances MPI's pending messages */
  /* Translate C's handles, as C functions pass and return them, to Fortran's and back. */
  int (*from_c)(uintptr_t comm);
  uintptr_t (*to_c)(int comm);
} nagaya_blacs_mpi;

/* Each shim exports this function. */
#define NAGAYA_BLACS_MPI_SYMBOL "nagaya_blacs_mpi_functions"
extern const nagaya_blacs_mpi* nagaya_blacs_mpi_functions(void);

#endif
