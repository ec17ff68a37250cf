/* SPDX-License-Identifier: BSD-3-Clause */
/* array.h - arrays distributed over a grid of processes, and the exchange of their halos: within a
 * node each process reads its neighbours' rows where they are; between nodes one request for each
 * neighbour and direction.
 *
 *   coordinate      0            1            2
 *   owned      |  0  1  2  3 | 4  5  6  7 | 8  9   |       extent 10, width 4
 *   shadow 1   |  0  1  2  3 [4]
 *                        [3]  4  5  6  7 [8]
 *                                     [7] 8  9  |
 *
 *   nagaya_array* array;
 *   nagaya_array_open(&shape, &grid, name, 0, &array);      // all processes of the grid
 *   double* rows = nagaya_array_block_of(array)->base;
 *   nagaya_array_reflect(array, widths, 0);                 // fills [ ] from the neighbours
 *
 * Dimensions are in the order of C: the last one is contiguous, in arrays and in grids. At most
 * NAGAYA_ARRAY_DIMENSIONS. Model: the global view of XcalableMP 1.4.
 * Over several nodes, and with `messages`, the caller has opened match.h before
 * (nagaya_match_open() or nagaya_match_join()). Outside of a space: a grid of one process. Errors:
 * negative errno codes; in a forked child, which has no part in its parent's arrays of several
 * processes, -ESRCH or NULL, but its copy of a block is there. Thread safety: of one array, one
 * thread at a time. Death of a process: its job ends (docs/array.md).
 */
#ifndef NAGAYA_ARRAY_H
#define NAGAYA_ARRAY_H

#include <nagaya/processes.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define NAGAYA_ARRAY_DIMENSIONS 7

/* ---- distributions ----------------------------------------------------------------------- */

/*   BLOCK, width 4         0 0 0 0 1 1 1 1 2 2
 *   CYCLIC, width 2        0 0 1 1 2 2 0 0 1 1      the coordinates of indexes 0 .. 9
 *   GENERAL, sizes 1 6 3   0 1 1 1 1 1 1 2 2 2
 */
typedef enum nagaya_distribution_kind {
  NAGAYA_DISTRIBUTION_BLOCK,  /* `width` indexes to each coordinate; to the last ones fewer, or none
                               */
  NAGAYA_DISTRIBUTION_CYCLIC, /* `width` indexes to each coordinate, again and again */
  NAGAYA_DISTRIBUTION_GENERAL /* begin[c] .. begin[c+1]-1 to coordinate c; perhaps none */
} nagaya_distribution_kind;

/* The indexes `low` .. `high` on coordinates 0 .. coordinates-1. Each index has one coordinate. Its
 * place is the number of lower indexes on that coordinate.
 * BLOCK: width * coordinates is at least the number of indexes, low + width * coordinates at most
 * INT64_MAX. CYCLIC: high + width * coordinates is at most INT64_MAX. */
typedef struct nagaya_distribution {
  int64_t low, high;
  int64_t width; /* BLOCK, CYCLIC: at least 1 */
  uint32_t coordinates;
  nagaya_distribution_kind kind;
  const int64_t*
      begin; /* GENERAL: coordinates + 1 numbers from low to high + 1, none below the one
                before it; the caller's, as long as the distribution or an array uses it */
} nagaya_distribution;

/* The indexes low .. high, both ends included; no index if low > high. */
typedef struct nagaya_interval {
  int64_t low, high;
} nagaya_interval;

/* Returns the width that gives all `coordinates` nearly as many indexes: rounded up, at least 1. */
int64_t nagaya_distribution_width(int64_t low, int64_t high, uint32_t coordinates);
/* Returns the number of indexes that a coordinate has. */
int64_t nagaya_distribution_count(const nagaya_distribution* of, uint32_t coordinate);
/* Returns how many of a coordinate's indexes are less than `index`, which may be any number. */
int64_t nagaya_distribution_count_below(const nagaya_distribution* of, uint32_t coordinate,
                                        int64_t index);
/* Return the coordinate and the place of `index`, which is one of low .. high. */
uint32_t nagaya_distribution_coordinate(const nagaya_distribution* of, int64_t index);
int64_t nagaya_distribution_place(const nagaya_distribution* of, int64_t index);
/* Returns the index at a place, which is less than the coordinate's count. */
int64_t nagaya_distribution_index(const nagaya_distribution* of, uint32_t coordinate,
                                  int64_t place);
/* Returns the consecutive indexes of a coordinate from the one at `place` on; if the coordinate has
 * no index at `place`, none. All runs of a coordinate, with `count` for its count:
 *   for (place = 0; place < count; place += run.high - run.low + 1)
 *     run = nagaya_distribution_run(of, coordinate, place);
 * BLOCK, GENERAL: the run from place 0 has all indexes of the coordinate. */
nagaya_interval nagaya_distribution_run(const nagaya_distribution* of, uint32_t coordinate,
                                        int64_t place);

/* Returns nonzero if the coordinate has one of low, low + step, ... up to high; step is positive.
 */
int nagaya_distribution_has(const nagaya_distribution* of, uint32_t coordinate, int64_t low,
                            int64_t high, int64_t step);

/* The rounds first, first + step, ... before end (downwards: above end) of a CYCLIC distribution.
 * In round n coordinate c has the indexes from low + (n * coordinates + c) * width on. */
typedef struct nagaya_rounds {
  int64_t first, end, step;
} nagaya_rounds;

/* Returns the rounds in which the coordinate may have an index of the loop over first,
 * first + step, ... up (down) to last, all in low .. high. With width 1 it has one in each of these
 * rounds. If there is no round, first and end are equal. */
nagaya_rounds nagaya_distribution_rounds(const nagaya_distribution* of, uint32_t coordinate,
                                         int64_t first, int64_t last, int64_t step);

/* Narrows the loop over *first, *first + step, ... before *end to the indexes in `interval`. A loop
 * upwards has i < *end, one downwards i > *end, before and after. If no index is left, *first and
 * *end are equal. */
void nagaya_interval_clip_loop(nagaya_interval interval, int64_t step, int64_t* first,
                               int64_t* end);

/* ---- arrays ------------------------------------------------------------------------------ */

enum { NAGAYA_ARRAY_FULL_SHADOW = -1 };

typedef struct nagaya_array_dimension {
  int64_t extent; /* indexes 0 .. extent-1 */
  /* Index i lies where i + offset does, along this dimension of the grid; -1: every process has
   * all indexes. */
  int32_t grid_dimension;
  nagaya_distribution distribution;
  int64_t offset;
  /* Room beside the block; CYCLIC: 0. Both NAGAYA_ARRAY_FULL_SHADOW: each block has room for all
   * indexes of the dimension, and those that it does not own are its shadow. In a CYCLIC dimension
   * no reflect fills it (the width is 0); nagaya_array_transfer() can, to a shape that has this
   * dimension with grid_dimension -1.
   *                                                                               [elements] */
  int64_t shadow_low, shadow_high;
} nagaya_array_dimension;

typedef struct nagaya_array_shape {
  size_t element_bytes;
  uint32_t dimensions;
  const nagaya_array_dimension* dimension;
} nagaya_array_shape;

/* The processes of an array. Along a dimension of the grid that no dimension of the array names,
 * each coordinate has a copy. */
typedef struct nagaya_array_grid {
  const nagaya_processes* processes; /* the last coordinate runs fastest */
  uint32_t dimensions;
  const uint32_t* extent; /* of each dimension */
} nagaya_array_grid;

typedef struct nagaya_array nagaya_array;

/* Makes the caller's block, all zero. Waits for nobody. All processes of the grid call it, or none.
 *
 *   name       below 2^55; arrays that exist at once and have processes in common have different
 *              ones
 *   messages   nonzero: all halos are messages of match.h (the same at all processes)
 *
 * Returns 0, -EINVAL (also: the grid has more or fewer places than processes), -ENOMEM, -ESRCH
 * (several processes, but outside of a space). */
int nagaya_array_open(const nagaya_array_shape* shape, const nagaya_array_grid* grid, uint64_t name,
                      int messages, nagaya_array** out);
/* Waits until neighbours on other nodes have read the boxes that the caller has sent them, which
 * they do in their part of the same reflects. Returns 0, -EBUSY (a reflect is pending), or the
 * error of a box, even of one whose reflect has returned 0. */
int nagaya_array_wait_sent(nagaya_array* array);
/* Waits as nagaya_array_wait_sent() does, and frees the block. Returns as that; after -EBUSY
 * nothing has happened, after another error the block is freed, too. */
int nagaya_array_close(nagaya_array* array);

/* Index i of a dimension lies i - first elements behind `base`; in a CYCLIC one without a full
 * shadow it lies nagaya_distribution_place(i + offset) - first behind it. */
typedef struct nagaya_array_block {
  void* base;                             /* aligned to 64 bytes, shadow included */
  int64_t first[NAGAYA_ARRAY_DIMENSIONS]; /* the index, or place, at `base`; below 0 in a shadow */
  int64_t count[NAGAYA_ARRAY_DIMENSIONS]; /* shadow included, at least 1 */
} nagaya_array_block;

/* Returns the caller's block of the array, which does not change until the array is closed. */
const nagaya_array_block* nagaya_array_block_of(const nagaya_array* array);

/* Returns the address of an element in its owner's block, if the owner is the caller or lives on
 * the same node (if there are copies: of one copy on this node); NULL: it is on another node. The
 * program itself orders loads and stores there. Waits until the owner has opened the array. */
void* nagaya_array_element(nagaya_array* array, const int64_t* index);

/* ---- halos ------------------------------------------------------------------------------- */

typedef struct nagaya_array_width {
  /* How much of the shadow, from the block outwards; the extent for all of a full shadow
   *                                                                               [elements] */
  int64_t low, high;
  int periodic; /* nonzero: behind the last index comes the first; not with a full shadow */
} nagaya_array_width;

/* Starts to fill the shadow. Shadow outside of the array stays as it is, and so do corners if
 * `orthogonal`. Otherwise a dimension of width 0 is not exchanged, but its whole shadow travels
 * with the boxes of the others: so reflects of one dimension after the other fill the corners as
 * one reflect does, also those outside of the array, which a periodic one has filled. Collective
 * over the grid, but only neighbours wait for each other. All processes start and complete the same
 * reflects in the same order.
 *
 *   width   for each dimension of the array
 *
 * Until it is complete the block must not be written, and the shadow not be used. Data move in the
 * start, the test, and in all waits of the task, whatever they wait for.
 * Returns 0, -EINVAL (wider than the shadow), -EBUSY (a reflect is pending); -ENOMEM, -ENOSPC (too
 * many regions, or functions that waits call: llcl.h) or -ESRCH (match.h is not open), after which
 * the caller may start the reflect again; or, as the next two functions, the error of a box, also
 * of an earlier reflect if no call has returned it yet. */
int nagaya_array_start_reflect(nagaya_array* array, const nagaya_array_width* width,
                               int orthogonal);
/* Polls the reflect. Returns 1: it is complete, or there is none; 0: it is pending; or the error of
 * a box (its message's error; -EPROTO: the other node has sent an impossible value): the reflect is
 * over, the other boxes have arrived. Later reflects of the same widths return the error at their
 * start, because neighbours may wait for the lost box. */
int nagaya_array_test_reflect(nagaya_array* array);
/* Waits until the reflect is complete. Returns 0, or the error of a box. */
int nagaya_array_wait_reflect(nagaya_array* array);
/* Starts a reflect and waits until it is complete. Returns as these two functions. */
int nagaya_array_reflect(nagaya_array* array, const nagaya_array_width* width, int orthogonal);

/* Combines elements: inout[n] = in[n] op inout[n] for n < count. `context` is a null pointer. */
typedef void nagaya_array_combine(void* context, const void* in, void* inout, size_t count);

/* Starts to combine the elements of all shadows with the elements that they stand for, as
 * reduce_shadow of XcalableMP adds them: the adjoint of a reflect. Corners are combined, too,
 * unless `orthogonal`. Shadows do not change; shadow outside of the array counts only if its
 * dimension is periodic. Every execution combines in the same order, so that sums have the same
 * bits. Until it is complete neither block nor shadow may be written. All else, and the errors, as
 * nagaya_array_start_reflect(); also -EINVAL: no `combine`. nagaya_array_test_reflect() and
 * nagaya_array_wait_reflect() complete it. */
int nagaya_array_start_reduction(nagaya_array* array, const nagaya_array_width* width,
                                 int orthogonal, nagaya_array_combine* combine);
/* Starts it and waits until it is complete. */
int nagaya_array_reduce_shadow(nagaya_array* array, const nagaya_array_width* width, int orthogonal,
                               nagaya_array_combine* combine);

/* ---- assignments between sections ---------------------------------------------------------- */

/* The indexes first, first + step, ... of one dimension. All are in the array; step may be
 * negative. A single index has count 1. */
typedef struct nagaya_array_triplet {
  int64_t first, count, step;
} nagaya_array_triplet;

/* A section of an array, and the array's memory at the caller. */
typedef struct nagaya_array_side {
  const nagaya_array_shape* shape;
  const nagaya_array_grid* grid; /* its processes; NULL: each process has a variable of this shape,
                                    none of whose dimensions lies on a grid */
  void* base;                    /* the caller's block, shadow included; NULL: it has none */
  const nagaya_array_triplet* section; /* for each dimension */
} nagaya_array_side;

/* A set of processes that assign sections to each other. */
typedef struct nagaya_transfers nagaya_transfers;

/* Makes the caller a member. Waits for nobody. All members call it, or none.
 *
 *   name   below 2^55; differs from those of all arrays and transfers that have processes in common
 *
 * Returns 0, -EINVAL, -ENOMEM, -ESRCH. */
int nagaya_transfers_open(const nagaya_processes* members, uint64_t name, nagaya_transfers** out);
/* Called when none of its assignments is under way. */
void nagaya_transfers_close(nagaya_transfers* transfers);

/* Assigns the section `from` to the section `to`, element by element: the dimensions with several
 * indexes, in their order, have the same counts on both sides, or `from` is one element. Each
 * process that has elements of `to` gets them; if there are copies, all of them. The sides may
 * overlap. Collective over the members, which make the same assignments in the same order; the
 * processes of both arrays are members. Within a node a reader copies from the block of the owner;
 * between nodes there is one message for each reader and owner. Waits for those only from which the
 * caller reads and that read from it: so no process writes into a block before all have read it.
 *
 * The plans of the last 64 assignments are kept.
 * Returns 0, -EINVAL (not conformable, another element size, an index or a process that does not
 * fit), -ENOMEM, -ESRCH, or the error of a message (-EPROTO: the other process has sent another
 * length): the rest has arrived, and later assignments return the error, too. */
int nagaya_array_transfer(nagaya_transfers* transfers, const nagaya_array_side* to,
                          const nagaya_array_side* from);

/* Returns where the block of a member begins; called for members on the caller's node. */
typedef void* nagaya_array_base_of(void* context, uint32_t member);

/* Assigns as nagaya_array_transfer() does, but the caller alone: _get fetches its part of `to` from
 * the blocks of others, _put stores the part of `from` that is its to store in their blocks. The
 * program orders this with other accesses to these blocks. All that is reached lies on the caller's
 * node.
 *
 *   members   the processes of both arrays are among them
 *   acts      nonzero for each member that calls _put for this assignment: all processes of the
 *             array `from`, or at least one if each process has a variable
 *
 * Returns 0, -EINVAL, -ENOMEM, -ESRCH, -EHOSTUNREACH (a part lies on another node: nothing has
 * moved). */
int nagaya_array_get(const nagaya_processes* members, const nagaya_array_side* to,
                     const nagaya_array_side* from, nagaya_array_base_of* base_of, void* context);
int nagaya_array_put(const nagaya_processes* members, const uint8_t* acts,
                     const nagaya_array_side* to, const nagaya_array_side* from,
                     nagaya_array_base_of* base_of, void* context);

/* The addresses of blocks, for processes that are not all on the grid of the array. */
typedef struct nagaya_array_blocks nagaya_array_blocks;

/* Publishes the caller's block, or NULL, to the members of its node. All members call it, or none;
 * waits for nobody. `name` as that of nagaya_transfers_open(), whose errors it has, too. */
int nagaya_array_blocks_open(const nagaya_processes* members, uint64_t name, void* base,
                             nagaya_array_blocks** out);
/* Returns the block of a member that is on the caller's node. Waits until it is published; so
 * members that publish NULL have none. */
void* nagaya_array_blocks_at(nagaya_array_blocks* blocks, uint32_t member);
/* The caller uses no other block from now on. Waits for nobody; a second call does nothing. */
void nagaya_array_blocks_leave(nagaya_array_blocks* blocks);
/* Leaves the blocks. If the caller has published a block, it also waits until all members of its
 * node have left, after which nobody uses the block any more and the caller may free it. A forked
 * child does not wait. */
void nagaya_array_blocks_close(nagaya_array_blocks* blocks);

typedef struct nagaya_array_statistics {
  uint64_t reflects;
  uint64_t copies;         /* from another process of the node */
  uint64_t messages;       /* sent to other nodes: writes or messages */
  uint64_t local_messages; /* sent within the node */
} nagaya_array_statistics;

/* Returns the counts over all reflects of the calling process. */
nagaya_array_statistics nagaya_array_statistics_of_process(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
