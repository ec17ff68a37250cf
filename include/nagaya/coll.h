/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - collectives by direct address: within a node no data is copied to a pool and out of it
 * again, unless it is short. Over several nodes: direct in each, messages between leaders.
 *
 *   nagaya_team* team;
 *   nagaya_coll_open(context, processes, 3, rank, 0, &team);
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
 * is the same everywhere, bit for bit, and in each run. Operations that commute: node by node.
 *
 * Teams over several nodes send messages (match.h, which is open). Without memory for one of them
 * its data are lost: -ENOMEM, and others may wait for ever, until the job ends. In one node a
 * collective under way that lacks memory waits for it, and the others with it.
 *
 * Memory: `send` must stay as it is, and nobody may touch `receive`, until the collective is
 * complete. Other members read and write both: they must lie in the space, as all memory of a task
 * does. The team's own memory goes with the task that made it: only in jobs whose tasks leave each
 * other their memory (`nagaya run`; `keep_ended` of task.h) may a member end before the others have
 * closed.
 *
 * Errors: negative errno codes; -ESRCH of all functions outside of a space and in a forked child.
 * Thread safety: of one team one call at a time; different teams, and
 * completions, any thread. Death of a member: its job ends (docs/coll.md).
 */
#ifndef NAGAYA_COLL_H
#define NAGAYA_COLL_H

#include <nagaya/llcl.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct nagaya_team nagaya_team;

/* The longest that a member may be ahead of others; 8 in the first 64.           [collectives] */
#define NAGAYA_COLL_AHEAD 64

/* Contexts from here on have libnagaya-xmp, -fmpl and -blacs; MPI has those below. */
#define NAGAYA_TEAMS_XMP (UINT64_C(1) << 53)
#define NAGAYA_TEAMS_FMPL (UINT64_C(1) << 54)
#define NAGAYA_TEAMS_BLACS (UINT64_C(1) << 55)

/* Makes the calling task a member. It waits for nobody. All members call it, or none.
 *
 *   context     below 2^56; teams that exist at once and have members in common have different ones
 *   processes   by rank, each once: copied      `size` of them, over several nodes at most 2^20
 *   rank        the caller's: processes[rank] is the calling task
 *   threads     nonzero: several threads of the task may wait, for this team or anything else
 *
 * Returns 0, -EINVAL (also: NAGAYA_TUNING names a file that is no tuning table, or not the table
 * that other tasks of the space have), -ENOMEM, -ESRCH (outside of a space). */
int nagaya_coll_open(uint64_t context, const nagaya_process* processes, uint32_t size,
                     uint32_t rank, int threads, nagaya_team** out);

/* The same of a team whose members need no memory in common: all of its collectives are messages of
 * two (match.h, which is open), even in a node. `context` and `size` as of a team over several
 * nodes. Its collectives take longer: the difference is the gain by shared memory. */
int nagaya_coll_open_by_messages(uint64_t context, const nagaya_process* processes, uint32_t size,
                                 uint32_t rank, int threads, nagaya_team** out);

/* The caller starts no more collectives of it; those that are under way are complete.
 * Returns 0, -EBUSY (one is under way: nothing has changed). */
int nagaya_coll_close(nagaya_team* team);
/* Closes a team as nagaya_coll_close() does, after waiting for its collectives. Returns 0, -EINVAL
 * (NULL), -ESRCH (a forked child). */
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
  /* In place of `bytes` and `stride`, by rank; or NULL. */
  const size_t* bytes_of;
  const ptrdiff_t* offset_of; /* from `base`                                          [bytes] */
  /* Of blocks that are not one run of bytes each: the runs of the longest one, if it began at
   * `base`. A block that begins elsewhere has its runs as much further. NULL: they are one run. */
  const nagaya_runs* runs;
  const nagaya_runs* const* runs_of; /* in place of `runs`, by rank; or NULL */
} nagaya_blocks;

/* The elements that are reduced: `count` in each rank's memory, the same everywhere. Those of
 * REDUCE and ALLREDUCE in place, in one node, may lie in the `runs` of both `send` and `receive`,
 * whole ones in each run. */
typedef struct nagaya_elements {
  size_t count;
  size_t extent; /* from one element to the next; with `copy` modulo 2^64: they may lie backwards
                                                                                     [bytes] */
  /* inout[n] = in[n] op inout[n]; associative. */
  void (*reduce)(void* context, const void* in, void* inout, size_t count);
  /* Elements with gaps, or that overlap: to[n] = from[n]. NULL: elements of `extent` bytes. */
  void (*copy)(void* context, void* to, const void* from, size_t count);
  void* context;     /* of both, called by any thread of the task */
  uint32_t commutes; /* in0 op in1 is in1 op in0, but for rounding */
  /* With `copy`: where the first byte of an element lies, and how many from there to the last. */
  ptrdiff_t true_lb;
  size_t true_extent;
  const size_t* count_of; /* REDUCE_SCATTER: of each rank, together `count` */
} nagaya_elements;

typedef struct nagaya_collective {
  nagaya_collective_kind kind;
  uint32_t root;
  uint32_t varies; /* GATHER, SCATTER, ALLTOALL: blocks' sizes differ, not all ranks know them */
  nagaya_blocks send;
  nagaya_blocks receive;
  /* BCAST's root: nagaya_coll_detach() may follow. Where its block is in runs no rank has a
   * `store`. Over several nodes all ranks say so, and their blocks have equal sizes. */
  uint32_t may_detach;
  nagaya_elements elements;
  /* Gets what comes from `rank`, in place of a block of `receive`, which still says how many bytes
   * are expected; or NULL. */
  void (*store)(void* context, uint32_t rank, const void* data, size_t bytes);
  void* store_context;
  /* Called once, when it is complete, by any thread of the task, which may start others then. NULL:
   * `is_complete` is looked at. */
  void (*complete)(struct nagaya_collective* collective);
  uint32_t is_complete;
  int32_t error;   /* when it is complete: 0, or why this rank's data are not: -EMSGSIZE, -ENOMEM */
  void* operation; /* the library's */
} nagaya_collective;

/* Starts it: complete later, perhaps before the call returns. `*collective` and its blocks' arrays
 * stay until then. Every wait of the task moves it along. Returns 0, -EINVAL, -ENOMEM, -ENOSPC (too
 * many libraries that waits call: llcl.h). */
int nagaya_coll_start(nagaya_team* team, nagaya_collective* collective);

/* Of a BCAST's root, which it has started with `may_detach`: its block is the caller's again when
 * the call returns: it waits for those that have begun to read the block, and makes a copy for the
 * others, if there are any. Once. `*collective` stays until it is complete and this
 * call has returned: another thread may complete it meanwhile. Returns 0, 1 (there is a copy),
 * -EINVAL, -ENOMEM (nothing has changed). */
int nagaya_coll_detach(nagaya_team* team, nagaya_collective* collective);

/* Runs it: complete when the call returns. Returns its error, or -EINVAL, -ENOMEM. */
int nagaya_coll_run(nagaya_team* team, nagaya_collective* collective);

/* The name of the algorithm that does such a collective, for people: a constant. NULL: none does,
 * or there is no team. */
const char* nagaya_coll_algorithm(const nagaya_team* team, const nagaya_collective* collective);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
