/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h - the library's requests to the MPI of its process: one shim for each binary interface,
 * which is loaded when that MPI is found. Communicators are named by their Fortran handles. */
#ifndef NAGAYA_BLACS_MPI_H
#define NAGAYA_BLACS_MPI_H

#include <stdint.h>

/* Returns when is_over(context) does not return 0; moves all other communication meanwhile. */
typedef void nagaya_blacs_wait(int (*is_over)(void* context), void* context);

typedef struct nagaya_blacs_mpi {
  /* Initialises MPI, unless that has been done. */
  void (*init)(void);
  void (*finalize)(void); /* unless that has been done */
  void (*abort)(int code);
  int (*has_threads)(void); /* several may call MPI at once; from init() on, as those below */
  int (*world)(void);
  int (*size)(int comm);
  int (*rank)(int comm);
  /* Collective among the communicator's processes. 0, or MPI's error. */
  int (*allgather)(int comm, const void* own, int bytes, void* all, nagaya_blacs_wait* wait);
  /* Translates `count` ranks of `from` to ranks in MPI_COMM_WORLD. 0: one of them is not there. */
  int (*translate)(int from, const int* ranks, int count, int* out);
  /* A communicator of those ranks of `from`, which all of them make, with that tag. 0, or MPI's
   * error. */
  int (*make_group)(int from, const int* ranks, int count, int tag, int* out);
  void (*free)(int comm); /* unless MPI has ended */
  void (*progress)(void); /* of the messages that MPI has under way */
  /* Of C's handles, as they are passed and returned. */
  int (*from_c)(uintptr_t comm);
  uintptr_t (*to_c)(int comm);
} nagaya_blacs_mpi;

/* Each shim exports this function. */
#define NAGAYA_BLACS_MPI_SYMBOL "nagaya_blacs_mpi_functions"
extern const nagaya_blacs_mpi* nagaya_blacs_mpi_functions(void);

#endif
