/* SPDX-License-Identifier: BSD-3-Clause */
/* collective_call.h - one random collective of mpi_collectives.c.
 *
 *   plan_call()     draws it: the same at all ranks of the communicator
 *   start_call()    makes this rank's buffers and calls MPI
 *   finish_call()   after its completion: compares the buffers with what has to be there
 *
 * A buffer is filled with canaries, in its gaps and around it, too. Its content after the
 * collective is made in the same way, by the same function, and compared byte by byte. */
#ifndef NAGAYA_TESTS_COLLECTIVE_CALL_H
#define NAGAYA_TESTS_COLLECTIVE_CALL_H

#include "collective_reference.h"

enum kind {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce, /* reductions from here on */
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kKinds
};

struct group {
  const char* name;
  MPI_Comm comm; /* MPI_COMM_NULL: this rank does not belong to it */
  int rank, size;
};

/* The blocks that one rank gives, or gets. */
struct side {
  bool is_receive;
  int blocks;  /* 0: MPI does not look at it at this rank; 1, or one for each rank */
  int* counts; /* of items, by block */
  int* places; /* of blocks: from the origin, in items; in bytes for alltoallw */
  MPI_Datatype* types;
  const struct layout** layouts;
  unsigned char* memory;
  unsigned char* origin; /* in the memory; its bytes in front are guards and items of types that
                            begin below their address */
  size_t bytes;
  void* at; /* MPI's argument: the origin, MPI_IN_PLACE or NULL */
};

struct call {
  int round, number; /* in the round */
  enum kind kind;
  bool is_blocking, is_in_place;
  bool frees_early; /* its types, or its operation, as soon as it has started */
  struct group group;
  int root;
  uint64_t seed;
  const struct family* family;   /* of data that move */
  int base_units;                /* of it: each block has a multiple */
  const struct operand* operand; /* of data that are reduced */
  MPI_Op op;
  int count; /* of base units or items in each block; where each has its own count: the most */
  int total; /* of a reduction's items */
  int* shares;
  struct side send, receive;
  double entered_s, left_s; /* CLOCK_MONOTONIC */
};

/* Draw nothing that Open MPI 4.1's own collectives do wrongly:
 *   gather, allgatherv, alltoall of different types (coll/tuned: ranks disagree on the algorithm,
 * or it takes the senders' type for the receivers') ialltoallv, ialltoallw in place where one rank
 * has no data (coll/libnbc: next tag is wrong) ireduce of a type that begins behind or below its
 * address (coll/libnbc: writes elsewhere) */
extern bool is_mild;

const char* kind_name(enum kind kind);
double now_s(void);

/* One line, and the job ends. */
void fail(const struct call* call, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* Call `call->number` of the round, of `call->seed`, kind and group. At most `bytes` in the memory
 * of all its ranks, but for gaps. */
void plan_call(struct call* call, size_t bytes);
void start_call(struct call* call, MPI_Request* request);
void finish_call(struct call* call);

#endif
