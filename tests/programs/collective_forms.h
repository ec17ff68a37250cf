/* SPDX-License-Identifier: BSD-3-Clause */
/* collective_forms.h - lets collective_call.c call the collectives of MPI 4: MPI_X becomes MPI_X_c,
 * and MPI_Ix becomes MPI_X_init_c with an MPI_Start behind it. Included by the compiler's option.
 *
 * Counts and displacements are copied to wider arrays, which are never freed: a persistent request
 * may need them as long as it exists. */
#ifndef NAGAYA_TESTS_COLLECTIVE_FORMS_H
#define NAGAYA_TESTS_COLLECTIVE_FORMS_H

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

static inline int size_of(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}
static inline MPI_Count* counts_of(const int* narrow, MPI_Comm comm) {
  if (narrow == NULL) return NULL;
  MPI_Count* const wide = malloc((size_t)size_of(comm) * sizeof *wide);
  for (int n = 0; n < size_of(comm); ++n) wide[n] = narrow[n];
  return wide;
}
static inline MPI_Aint* places_of(const int* narrow, MPI_Comm comm) {
  if (narrow == NULL) return NULL;
  MPI_Aint* const wide = malloc((size_t)size_of(comm) * sizeof *wide);
  for (int n = 0; n < size_of(comm); ++n) wide[n] = narrow[n];
  return wide;
}

/* `made`: the call of MPI_X_init_c. */
#define START(request, made) ((made) == MPI_SUCCESS ? MPI_Start(request) : MPI_ERR_OTHER)
#define INFO MPI_INFO_NULL

#define MPI_Bcast MPI_Bcast_c
#define MPI_Gather MPI_Gather_c
#define MPI_Scatter MPI_Scatter_c
#define MPI_Allgather MPI_Allgather_c
#define MPI_Alltoall MPI_Alltoall_c
#define MPI_Reduce MPI_Reduce_c
#define MPI_Allreduce MPI_Allreduce_c
#define MPI_Reduce_scatter_block MPI_Reduce_scatter_block_c
#define MPI_Scan MPI_Scan_c
#define MPI_Exscan MPI_Exscan_c
#define MPI_Gatherv(s, sn, st, r, rn, rp, rt, root, comm) \
  MPI_Gatherv_c(s, sn, st, r, counts_of(rn, comm), places_of(rp, comm), rt, root, comm)
#define MPI_Scatterv(s, sn, sp, st, r, rn, rt, root, comm) \
  MPI_Scatterv_c(s, counts_of(sn, comm), places_of(sp, comm), st, r, rn, rt, root, comm)
#define MPI_Allgatherv(s, sn, st, r, rn, rp, rt, comm) \
  MPI_Allgatherv_c(s, sn, st, r, counts_of(rn, comm), places_of(rp, comm), rt, comm)
#define MPI_Alltoallv(s, sn, sp, st, r, rn, rp, rt, comm)                                  \
  MPI_Alltoallv_c(s, counts_of(sn, comm), places_of(sp, comm), st, r, counts_of(rn, comm), \
                  places_of(rp, comm), rt, comm)
#define MPI_Alltoallw(s, sn, sp, st, r, rn, rp, rt, comm)                                  \
  MPI_Alltoallw_c(s, counts_of(sn, comm), places_of(sp, comm), st, r, counts_of(rn, comm), \
                  places_of(rp, comm), rt, comm)
#define MPI_Reduce_scatter(s, r, rn, type, op, comm) \
  MPI_Reduce_scatter_c(s, r, counts_of(rn, comm), type, op, comm)

#define MPI_Ibarrier(comm, q) START(q, MPI_Barrier_init(comm, INFO, q))
#define MPI_Ibcast(b, n, t, root, comm, q) START(q, MPI_Bcast_init_c(b, n, t, root, comm, INFO, q))
#define MPI_Igather(s, sn, st, r, rn, rt, root, comm, q) \
  START(q, MPI_Gather_init_c(s, sn, st, r, rn, rt, root, comm, INFO, q))
#define MPI_Igatherv(s, sn, st, r, rn, rp, rt, root, comm, q)                                   \
  START(q, MPI_Gatherv_init_c(s, sn, st, r, counts_of(rn, comm), places_of(rp, comm), rt, root, \
                              comm, INFO, q))
#define MPI_Iscatter(s, sn, st, r, rn, rt, root, comm, q) \
  START(q, MPI_Scatter_init_c(s, sn, st, r, rn, rt, root, comm, INFO, q))
#define MPI_Iscatterv(s, sn, sp, st, r, rn, rt, root, comm, q)                                   \
  START(q, MPI_Scatterv_init_c(s, counts_of(sn, comm), places_of(sp, comm), st, r, rn, rt, root, \
                               comm, INFO, q))
#define MPI_Iallgather(s, sn, st, r, rn, rt, comm, q) \
  START(q, MPI_Allgather_init_c(s, sn, st, r, rn, rt, comm, INFO, q))
#define MPI_Iallgatherv(s, sn, st, r, rn, rp, rt, comm, q)                                         \
  START(q, MPI_Allgatherv_init_c(s, sn, st, r, counts_of(rn, comm), places_of(rp, comm), rt, comm, \
                                 INFO, q))
#define MPI_Ialltoall(s, sn, st, r, rn, rt, comm, q) \
  START(q, MPI_Alltoall_init_c(s, sn, st, r, rn, rt, comm, INFO, q))
#define MPI_Ialltoallv(s, sn, sp, st, r, rn, rp, rt, comm, q)                       \
  START(q, MPI_Alltoallv_init_c(s, counts_of(sn, comm), places_of(sp, comm), st, r, \
                                counts_of(rn, comm), places_of(rp, comm), rt, comm, INFO, q))
#define MPI_Ialltoallw(s, sn, sp, st, r, rn, rp, rt, comm, q)                       \
  START(q, MPI_Alltoallw_init_c(s, counts_of(sn, comm), places_of(sp, comm), st, r, \
                                counts_of(rn, comm), places_of(rp, comm), rt, comm, INFO, q))
#define MPI_Ireduce(s, r, n, t, op, root, comm, q) \
  START(q, MPI_Reduce_init_c(s, r, n, t, op, root, comm, INFO, q))
#define MPI_Iallreduce(s, r, n, t, op, comm, q) \
  START(q, MPI_Allreduce_init_c(s, r, n, t, op, comm, INFO, q))
#define MPI_Ireduce_scatter(s, r, n, t, op, comm, q) \
  START(q, MPI_Reduce_scatter_init_c(s, r, counts_of(n, comm), t, op, comm, INFO, q))
#define MPI_Ireduce_scatter_block(s, r, n, t, op, comm, q) \
  START(q, MPI_Reduce_scatter_block_init_c(s, r, n, t, op, comm, INFO, q))
#define MPI_Iscan(s, r, n, t, op, comm, q) START(q, MPI_Scan_init_c(s, r, n, t, op, comm, INFO, q))
#define MPI_Iexscan(s, r, n, t, op, comm, q) \
  START(q, MPI_Exscan_init_c(s, r, n, t, op, comm, INFO, q))

#endif
