/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - collectives by direct address: within a node no data is copied to a pool and out of it
 * again, unless it is short. Over several nodes: direct in each, messages between leaders.
 *
 *   nagaya_team* team;
 *   nagaya_coll_open(context, members, 0, &team);    // of processes.h
 *   nagaya_collective sum = {.kind = NAGAYA_ALLREDUCE,
 *                            .send = {.base = mine}, .receive = {.base = all},
 *                            .elements = {.count = 100, .extent = sizeof(double), .reduce = add}};
 *   nagaya_coll_run(team, &sum);                  // or nagaya_coll_start(), then a wait
 *   nagaya_coll_close(team);
 *
 * A team is an ordered set of processes. Its members call the same collectives in the same
 * order, with the same kind, root and sizes. A member may be up to NAGAYA_COLL_AHEAD collectives
 * ahead of the others where it needs nothing from them.
 * Blocks: rank r of a team gives `send`, and gets `receive`, as the kind says:
 *
 *   | kind           | send             | receive             | the receiver gets                |
 *   |----------------|------------------|---------------------|----------------------------------|
 *   | BARRIER        |                  |                     |                                  |
 *   | BCAST          | root: one block  | others: one block   | the root's                       |
 *   | GATHER         | one block        | root: one of each   | root: block r from rank r        |
 *   | SCATTER        | root: one each   | one block           | r: block r of the root           |
 *   | ALLGATHER      | one block        | one of each         | all: block r from rank r         |
 *   | ALLTOALL       | one for each     | one of each         | r: block r from every rank       |
 *   | REDUCE         | elements         | root: elements      | root: the reduction              |
 *   | ALLREDUCE      | elements         | elements            | all: the reduction               |
 *   | REDUCE_SCATTER | elements         | its share of them   | r: its share of the reduction    |
 *   | SCAN, EXSCAN   | elements         | elements            | r: of ranks 0 .. r, 0 .. r-1     |
 *
 * Blocks of each rank may have sizes of their own (MPI_Gatherv and its like: `varies`); a
 * receiver's block is at least as large as what comes, over several nodes just as large. In place:
 * where `send` and `receive` of a rank are the same memory. Otherwise no memory of one may overlap.
 *
 * Reductions combine the ranks' elements in the order of the ranks, on all ranks alike: the result
 * is the same everywhere, bit for bit, and in each run. If the operation commutes, the elements of
 * each node are combined first.
 *
 * Teams over several nodes send messages (match.h must be open). If there is no memory for a
 * message its data are lost: its rank gets -ENOMEM, and others may wait until the job ends. In one
 * node a started collective that lacks memory waits for it, and the other members wait, too.
 *
 * Memory: `send` must stay as it is, and nobody may touch `receive`, until the collective is
 * complete. Other members read and write both: they must lie in the space, as all memory of a task
 * does. The team's own memory is freed when the task that made it ends: only in jobs that keep the
 * memory of ended tasks (`nagaya run`; `keep_ended` of task.h) may a member end before the others
 * have closed.
 *
 * Errors: negative errno codes; outside of a space and in a forked child all functions return
 * -ESRCH. Thread safety: one call at a time for one team; calls for different teams, and
 * completions, come from any thread. Death of a member: its job ends (docs/coll.md).
 */
#ifndef NAGAYA_COLL_H
#define NAGAYA_COLL_H

#include <nagaya/processes.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct nagaya_team nagaya_team;

/* A member may be so far ahead of others; at most 8 in the first 64.             [collectives] */
#define NAGAYA_COLL_AHEAD 64

/* libnagaya-xmp, -fmpl and -blacs, and windows over several nodes (window.h), use the contexts from
 * these on; MPI uses the contexts below. */
#define NAGAYA_TEAMS_WINDOWS (UINT64_C(1) << 52)
#define NAGAYA_TEAMS_XMP (UINT64_C(1) << 53)
#define NAGAYA_TEAMS_FMPL (UINT64_C(1) << 54)
#define NAGAYA_TEAMS_BLACS (UINT64_C(1) << 55)
#define NAGAYA_TEAM_PYTHON ((UINT64_C(1) << 56) - 1) /* of Python's package nagaya: one alone */

/* Makes the calling task a member. It waits for nobody. All members call it, or none.
 *
 *   context   below 2^56; teams that exist at once and have members in common have different ones
 *   members   the set may be closed on return; over several nodes it has at most 2^20 processes
 *   threads   nonzero: several threads of the task may wait, for this team or anything else
 *
 * Returns 0, -EINVAL (also: NAGAYA_TUNING names a file that is no tuning table, or not the table
 * that other tasks of the space have), -ENOMEM, -ESRCH (outside of a space). */
int nagaya_coll_open(uint64_t context, const nagaya_processes* members, int threads,
                     nagaya_team** out);

/* Makes the calling task a member of a team that uses no shared memory: all of its collectives are
 * point-to-point messages (match.h must be open), even in a node. Arguments and results are those
 * of nagaya_coll_open(); `context` and `members` have the limits of a team over several nodes. Its
 * collectives take longer: the difference is the gain by shared memory. */
int nagaya_coll_open_by_messages(uint64_t context, const nagaya_processes* members, int threads,
                                 nagaya_team** out);

/* Ends the caller's membership. All collectives that it has started must be complete.
 * Returns 0, -EBUSY (a collective is pending: nothing has changed). */
int nagaya_coll_close(nagaya_team* team);
/* Closes a team as nagaya_coll_close() does, after waiting for its collectives. If another thread
 * completes one, `*collective` stays the caller's until `is_complete` is 1 and `complete` has
 * returned. Returns 0, -EINVAL (NULL), -ESRCH (a forked child). */
int nagaya_coll_wait_close(nagaya_team* team);

typedef enum nagaya_collective_kind {
  NAGAYA_BARRIER,
  NAGAYA_BCAST,
  NAGAYA_GATHER,
  NAGAYA_SCATTER,
  NAGAYA_ALLGATHER,
  NAGAYA_ALLTOALL,
  NAGAYA_REDUCE,
  NAGAYA_ALLREDUCE,
  NAGAYA_REDUCE_SCATTER,
  NAGAYA_SCAN,
  NAGAYA_EXSCAN
} nagaya_collective_kind;

/* One block, or one for each rank. */
typedef struct nagaya_blocks {
  void* base;       /* NULL, and no `bytes_of` or `runs`: this rank has none, or its own block is
                       where it belongs already */
  size_t bytes;     /* of each block                                                  [bytes] */
  ptrdiff_t stride; /* from one block to the next                                     [bytes] */
  /* In place of `bytes` and `stride`, one of each per rank; or NULL. */
  const size_t* bytes_of;
  const ptrdiff_t* offset_of; /* from `base`                                          [bytes] */
  /* For blocks that are not one run of bytes each: the runs of the longest block, if it began at
   * `base`. The runs of a block that begins elsewhere are shifted by as much. NULL: each block is
   * one run. */
  const nagaya_runs* runs;
  const nagaya_runs* const* runs_of; /* in place of `runs`, by rank; or NULL */
} nagaya_blocks;

/* The elements that are reduced: `count` in each rank's memory, the same everywhere. If REDUCE or
 * ALLREDUCE works in place, in one node, the elements may lie in the `runs` of both `send` and
 * `receive`, whole elements in each run. */
typedef struct nagaya_elements {
  size_t count;
  size_t extent; /* from one element to the next; with `copy` modulo 2^64: they may lie backwards
                                                                                     [bytes] */
  /* inout[n] = in[n] op inout[n]; associative. */
  void (*reduce)(void* context, const void* in, void* inout, size_t count);
  /* Elements with gaps, or that overlap: to[n] = from[n]. NULL: elements of `extent` bytes. */
  void (*copy)(void* context, void* to, const void* from, size_t count);
  void* context;     /* given to reduce(), copy() and may_reduce(), which any thread of the task may
                        call */
  uint32_t commutes; /* in0 op in1 is in1 op in0, but for rounding */
  /* With `copy`: where the first byte of an element lies, and how many from there to the last. */
  ptrdiff_t true_lb;
  size_t true_extent;
  const size_t* count_of; /* REDUCE_SCATTER: the share of each rank, together `count` */
  /* Whether the calling thread may call reduce() and copy(): if it returns 0, a started collective
   * of one node waits for another thread of the task. NULL: any thread may. */
  int (*may_reduce)(void* context);
} nagaya_elements;

typedef struct nagaya_collective {
  nagaya_collective_kind kind;
  uint32_t root;
  uint32_t varies; /* GATHER, SCATTER, ALLTOALL: blocks' sizes differ, not all ranks know them */
  nagaya_blocks send;
  nagaya_blocks receive;
  /* Set by BCAST's root: nagaya_coll_detach() may follow. If its block is in runs, no rank has a
   * `store`. Over several nodes all ranks set it, and their blocks have equal sizes. */
  uint32_t may_detach;
  /* Set by all receivers of a GATHER or SCATTER, or by one of a BCAST in one node: -EMSGSIZE and
   * -ENODATA tell that a block is larger, or smaller, than its place. Else only -EMSGSIZE does. */
  uint32_t is_exact;
  nagaya_elements elements;
  /* Receives the data of `rank`, in place of a block of `receive`, which still says how many bytes
   * are expected; or NULL. */
  void (*store)(void* context, uint32_t rank, const void* data, size_t bytes);
  void* store_context;
  /* Called once, when the collective is complete, by any thread of the task; may start others.
   * NULL: the caller polls `is_complete`. */
  void (*complete)(struct nagaya_collective* collective);
  uint32_t is_complete;
  int32_t error;   /* when it is complete: 0, or why this rank lacks data: -EMSGSIZE, -ENODATA,
                      -ENOMEM */
  void* operation; /* the library's */
} nagaya_collective;

/* Starts a collective, which completes later, perhaps before the call returns. `*collective` and
 * its blocks' arrays stay until then. Every wait of the task advances it. Returns 0, -EINVAL,
 * -ENOMEM, -ENOSPC (too many libraries that waits call: llcl.h). */
int nagaya_coll_start(nagaya_team* team, nagaya_collective* collective);

/* Called at most once by the root of a BCAST that it has started with `may_detach`. When the call
 * returns, the root may change its block: the call waits for members that have begun to read the
 * block, and copies it for the others, if there are any. `*collective` stays until it is complete
 * and this call has returned: another thread may complete it meanwhile. Returns 0, 1 (there is a
 * copy), -EINVAL, -ENOMEM (nothing has changed). */
int nagaya_coll_detach(nagaya_team* team, nagaya_collective* collective);

/* Runs a collective: it is complete when the call returns. Returns its error, or -EINVAL,
 * -ENOMEM. */
int nagaya_coll_run(nagaya_team* team, nagaya_collective* collective);

/* Returns the name of the algorithm that would run this collective, for people: a constant string.
 * NULL: no algorithm runs it, or there is no team. */
const char* nagaya_coll_algorithm(const nagaya_team* team, const nagaya_collective* collective);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
