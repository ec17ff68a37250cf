/* SPDX-License-Identifier: BSD-3-Clause */
/* xmp_translated.h - the functions that xmpcc's translation of an XcalableMP program calls.
 * Programs do not include this header: xmpcc writes its declarations at the head of each
 * translation, so it uses no macro and no other header.
 *
 * One form for both syntaxes: dimensions in the order of C (the last one is contiguous), ranges
 * with both ends included, node numbers from 0. `t(1:8, 0:3)` is {0..3} x {1..8}; `p(2)` is node 1.
 * Dimensions are at most 7. Extents, indexes, widths: long                              [elements]
 *
 * `where` names a place of the source, "laplace.c:12:9": errors at run time begin with it. An error
 * of the program prints one line and ends the process with status 1, so that the job ends.
 * Thread safety: none, and called outside of OpenMP's parallel regions; but for nagaya_xmp_loop(),
 * which several threads may call: for an inner loop inside of a parallel outer one.
 * Source: XcalableMP specification 1.4. */
#ifndef NAGAYA_XMP_TRANSLATED_H
#define NAGAYA_XMP_TRANSLATED_H

typedef struct nagaya_xmp_nodes nagaya_xmp_nodes;
typedef struct nagaya_xmp_template nagaya_xmp_template;

/* A cyclic dimension: index i of the array lies at the template's lower bound + i - start; `width`
 * indexes go to a process, and the next ones to it are `round` behind them. */
typedef struct nagaya_xmp_cycle {
  unsigned long start, width, round;
} nagaya_xmp_cycle;

/* A distributed array, as the translated program sees it: the element of the global indexes
 * (i, j, ...) lies in the block at local indexes (i - first[0], j - first[1], ...). */
typedef struct nagaya_xmp_array {
  char* base;    /* the block of this process, shadow included; a null pointer: it has none */
  long first[7]; /* the global index of local index 0; 0 in a dimension that is not distributed; in
                    a cyclic one the place (nagaya_xmp_place()) of local index 0 */
  long count[7]; /* extent of the block, shadow included; at least 1 */
  nagaya_xmp_cycle cycle[7];            /* of cyclic dimensions */
  struct nagaya_xmp_array_state* state; /* used by the runtime only */
} nagaya_xmp_array;

/* Returns the place of a global index of this process in a cyclic dimension: the number of lower
 * places of the template that the process has. */
static __inline__ long nagaya_xmp_place(nagaya_xmp_cycle of, long index) {
  const unsigned long at = (unsigned long)index - of.start;
  return (long)(at / of.round * of.width + at % of.width);
}

/* ---- beginning ---------------------------------------------------------------------------- */

/* Registers the declarations at file scope of one translation unit; called by its constructor. */
void nagaya_xmp_unit(void (*declare)(void));

/* Called once by each process of the job, by a constructor that runs after all calls of
 * nagaya_xmp_unit() and before main(): joins the job, and runs the declarations of all units. A
 * program that is started outside of a space runs as one process. The runtime ends at exit(). */
void nagaya_xmp_begin(void);

/* ---- references to nodes and templates ------------------------------------------------------- */

typedef enum nagaya_xmp_subscript_kind {
  NAGAYA_XMP_STAR,  /* `*`: for each process, the processes that have its own coordinate */
  NAGAYA_XMP_RANGE, /* low .. high, each `step`th; one index: low = high */
  NAGAYA_XMP_ALL    /* the whole dimension: `:`, or the index of a loop in its place */
} nagaya_xmp_subscript_kind;

typedef struct nagaya_xmp_subscript {
  nagaya_xmp_subscript_kind kind;
  long low, high, step;
} nagaya_xmp_subscript;

/* Return the subscripts `e` and `base:length:step`; the program computes each expression once. */
static __inline__ nagaya_xmp_subscript nagaya_xmp_index(long index) {
  nagaya_xmp_subscript subscript = {NAGAYA_XMP_RANGE, index, index, 1};
  return subscript;
}
static __inline__ nagaya_xmp_subscript nagaya_xmp_section(long base, long length, long step) {
  nagaya_xmp_subscript subscript = {NAGAYA_XMP_RANGE, base, base + (length - 1) * step, step};
  return subscript;
}

/* The reference after `on` and similar clauses. One of `nodes` and `of_template` is set. Without
 * subscripts (`on p`): `dimensions` is 0, and the reference is to all of it. */
typedef struct nagaya_xmp_on {
  const nagaya_xmp_nodes* nodes;
  const nagaya_xmp_template* of_template;
  int dimensions;
  nagaya_xmp_subscript subscript[7];
} nagaya_xmp_on;

/* ---- declarations ------------------------------------------------------------------------- */

/* Declares `nodes name[extent]...`: `of` is a null pointer for all processes of the job, else a
 * section of other nodes; `executing`: `= *`, the executing nodes. An extent of -1 (`*`) is as
 * large as possible; only the outermost may be -1. `brackets`: nonzero if the declaration is in
 * the syntax with brackets, for inquiries. */
nagaya_xmp_nodes* nagaya_xmp_declare_nodes(const char* where, const char* name, int brackets,
                                           int dimensions, const long* extent,
                                           const nagaya_xmp_on* of, int executing);
void nagaya_xmp_free_nodes(nagaya_xmp_nodes** nodes); /* at the end of its scope */

/* Declares a template. Null pointers for `low` and `high`: `template t(:)`, fixed later. */
nagaya_xmp_template* nagaya_xmp_declare_template(const char* where, const char* name,
                                                 int dimensions, const long* low, const long* high);
void nagaya_xmp_free_template(nagaya_xmp_template** freed);

typedef enum nagaya_xmp_distribution_kind {
  NAGAYA_XMP_NOT_DISTRIBUTED, /* `*` */
  NAGAYA_XMP_BLOCK,           /* block, or block(width) */
  NAGAYA_XMP_CYCLIC,          /* cyclic, or cyclic(width) */
  NAGAYA_XMP_GBLOCK           /* gblock(sizes), or gblock(*) */
} nagaya_xmp_distribution_kind;

typedef struct nagaya_xmp_distribution {
  nagaya_xmp_distribution_kind kind;
  long width;        /* BLOCK: 0: the extent divided by the number of nodes, rounded up */
  const void* sizes; /* GBLOCK: one for each node, copied; a null pointer: given by template_fix */
  unsigned long bytes, count; /* of one of the sizes; of all, 0: not known */
} nagaya_xmp_distribution;

/* Distributes a template: `distribution` has one entry for each of its dimensions. The distributed
 * dimensions go to the dimensions of the nodes in order, and must be as many. */
void nagaya_xmp_distribute(const char* where, nagaya_xmp_template* distributed,
                           const nagaya_xmp_nodes* onto,
                           const nagaya_xmp_distribution* distribution);
/* Gives a template its bounds, its distribution, or both; null pointers: as declared. */
void nagaya_xmp_fix_template(const char* where, nagaya_xmp_template* fixed, const long* low,
                             const long* high, const nagaya_xmp_distribution* distribution);

/* As shadow_low and shadow_high: each process has room for the whole dimension. */
enum { NAGAYA_XMP_FULL_SHADOW = -0x7fffffff - 1 };

/* The alignment of one dimension of an array: index i lies at i + offset of `dimension`. */
typedef struct nagaya_xmp_alignment {
  int dimension; /* of the template; -1: every process has all of it (`*`) */
  long offset;
  long shadow_low, shadow_high;
} nagaya_xmp_alignment;

/* Declares an array (align, shadow): makes the block of this process, zeroed, and fills `*array`. A
 * second unit may declare the same array in the same way, and so does each call of a function that
 * has it as a static variable. Along a dimension of the template that no alignment names, every
 * coordinate has a copy. If the template is not fixed yet, the array is made when it is; if an
 * extent is -1 (an aligned pointer), by xmp_malloc(). */
void nagaya_xmp_declare_array(const char* where, nagaya_xmp_array* array, const char* name,
                              unsigned long element_bytes, int dimensions, const long* extent,
                              const nagaya_xmp_template* with,
                              const nagaya_xmp_alignment* alignment);
void nagaya_xmp_free_array(nagaya_xmp_array* array);
/* Frees the block at `base` of an aligned pointer, for free(); also a null pointer. */
void nagaya_xmp_free_block(void* base);

/* Returns the array whose block `argument` points to, for a function that aligns its formal
 * argument. It is an error of the program unless there is such an array, with this element size and
 * these extents, alignments and shadows. */
const nagaya_xmp_array* nagaya_xmp_formal(const char* where, const void* argument, const char* name,
                                          unsigned long element_bytes, int dimensions,
                                          const long* extent, const nagaya_xmp_template* with,
                                          const nagaya_xmp_alignment* alignment);

/* ---- work ----------------------------------------------------------------------------------- */

/* The part of `for (i = first; i != end; i += step)` that this process executes: the loop from this
 * `first` to this `end` with the same step. Upwards i < end, downwards i > end. */
typedef struct nagaya_xmp_range {
  long first, end;
} nagaya_xmp_range;

/* Returns the caller's part of a loop, whose index + offset subscripts `dimension` of `on`. The
 * part is empty for a process that is outside of the other subscripts of `on`. An index outside of
 * the template is an error of the program. */
nagaya_xmp_range nagaya_xmp_loop(const char* where, const nagaya_xmp_on* on, int dimension,
                                 long offset, long first, long end, long step);

/* The part of a loop along a cyclic dimension: the runs first, first + step, ... before end. Run n
 * has the loop's indexes that lie in the `width` ones from low + n * round on. */
typedef struct nagaya_xmp_rounds {
  long first, end, step;
  long low, round, width;
  nagaya_xmp_range loop; /* as the program wrote it */
} nagaya_xmp_rounds;

/* Returns the caller's part of a loop along a dimension that is distributed cyclic. With width 1
 * each run has one of the loop's indexes. Else as nagaya_xmp_loop(). */
nagaya_xmp_rounds nagaya_xmp_cyclic_loop(const char* where, const nagaya_xmp_on* on, int dimension,
                                         long offset, long first, long end, long step);

/* Returns the part of the loop in run n; `step` is the loop's. */
static __inline__ nagaya_xmp_range nagaya_xmp_run(const nagaya_xmp_rounds* of, long n, long step) {
  const long low = of->low + n * of->round, high = low + of->width - 1;
  nagaya_xmp_range run = of->loop;
  if (step > 0) {
    if (run.first < low) run.first += (low - run.first + step - 1) / step * step;
    if (run.end > high + 1) run.end = high + 1;
  } else {
    if (run.first > high) run.first -= (run.first - high - step - 1) / -step * -step;
    if (run.end < low - 1) run.end = low - 1;
  }
  return run;
}
/* A width of the clause expand, margin or peel_and_wait, in one dimension of the on clause. */
typedef struct nagaya_xmp_expansion {
  long low, high; /* negative: inwards */
  int unbound;    /* nonzero: also beyond the iterations of the whole loop */
} nagaya_xmp_expansion;

/* The caller's iterations first + n * step: 0 <= n < own_count without the clause, and
 * begin <= n < end when expanded. */
typedef struct nagaya_xmp_expanded {
  long first, step, own_count, begin, end;
} nagaya_xmp_expanded;

/* Returns the iterations that nagaya_xmp_loop() gives, and those of an expanded loop. */
nagaya_xmp_expanded nagaya_xmp_expand(const char* where, const nagaya_xmp_on* on, int dimension,
                                      long offset, long first, long end, long step,
                                      const nagaya_xmp_expansion* expansion);

/* Returns the range of loop `which` of `count` nested ones in one part of their iterations. Part 0
 * is the expanded loops. Parts 1 .. 4 * count together are the margin, which is the iterations that
 * only one of the expanded and the plain loops has; each of these is in one part. */
nagaya_xmp_range nagaya_xmp_expanded_range(const nagaya_xmp_expanded* loops, int count, int which,
                                           int part);

/* Enters a task construct; all executing nodes call it. Returns 1: the caller belongs to `on`,
 * whose processes are the executing nodes until they leave the task; 0: it does not, and skips the
 * block. `nocomm`: the block has no communication. */
int nagaya_xmp_enter_task(const char* where, const nagaya_xmp_on* on, int nocomm);
/* Called if nagaya_xmp_enter_task() returned 1, also if a return leaves the block (a cleanup). */
void nagaya_xmp_leave_task(int* entered);

/* ---- communication: by all executing nodes, or all of `on` where it is no null pointer ---------
 */

typedef enum nagaya_xmp_type {
  NAGAYA_XMP_BOOL,
  NAGAYA_XMP_CHAR, /* signed */
  NAGAYA_XMP_UNSIGNED_CHAR,
  NAGAYA_XMP_SHORT,
  NAGAYA_XMP_UNSIGNED_SHORT,
  NAGAYA_XMP_INT,
  NAGAYA_XMP_UNSIGNED,
  NAGAYA_XMP_LONG, /* long long, too */
  NAGAYA_XMP_UNSIGNED_LONG,
  NAGAYA_XMP_FLOAT,
  NAGAYA_XMP_DOUBLE,
  NAGAYA_XMP_LONG_DOUBLE,
  NAGAYA_XMP_FLOAT_COMPLEX,
  NAGAYA_XMP_DOUBLE_COMPLEX,
  NAGAYA_XMP_LONG_DOUBLE_COMPLEX
} nagaya_xmp_type;

typedef struct nagaya_xmp_width {
  long low, high;
  int periodic;
} nagaya_xmp_width;

/* Fills the shadow from the neighbours. `width`: for each dimension of the array, or a null
 * pointer: all of the shadow. `orthogonal`: corners are left as they are. `async`: points to the
 * number for nagaya_xmp_wait_async(), or a null pointer: complete at return. */
void nagaya_xmp_reflect(const char* where, const nagaya_xmp_array* array,
                        const nagaya_xmp_width* width, int orthogonal, const long* async);
/* Adds the elements of the shadow, of this type, to those that they stand for at their owners; the
 * other arguments as those of nagaya_xmp_reflect(). The shadow does not change. */
void nagaya_xmp_reduce_shadow(const char* where, const nagaya_xmp_array* array,
                              nagaya_xmp_type type, const nagaya_xmp_width* width, int orthogonal,
                              const long* async);
void nagaya_xmp_wait_async(const char* where, int count, const long* async,
                           const nagaya_xmp_on* on);

void nagaya_xmp_barrier(const char* where, const nagaya_xmp_on* on);

/* Broadcasts `data`. `from`: the one node that has them; a null pointer: the first of the set. */
void nagaya_xmp_bcast(const char* where, void* data, unsigned long bytes, const nagaya_xmp_on* from,
                      const nagaya_xmp_on* on, const long* async);

/* A subscript of a gmove's assignment: one index, or base:length:step. A missing base is 0, a
 * missing length reaches to the end of the dimension. */
typedef struct nagaya_xmp_triplet {
  int is_section, has_length;
  long base, length, step;
} nagaya_xmp_triplet;

static __inline__ nagaya_xmp_triplet nagaya_xmp_single(long index) {
  nagaya_xmp_triplet triplet = {0, 0, index, 1, 0};
  return triplet;
}
static __inline__ nagaya_xmp_triplet nagaya_xmp_section_of(int has_length, long base, long length,
                                                           long step) {
  nagaya_xmp_triplet triplet = {1, has_length, base, length, step};
  return triplet;
}

/* One side of the assignment: a distributed array, or (`array` is a null pointer) a variable that
 * each process has. */
typedef struct nagaya_xmp_side {
  const nagaya_xmp_array* array;
  void* data; /* this and the next three: of the variable */
  unsigned long element_bytes;
  int dimensions;
  const long* extent; /* -1: not known, which is for the first dimension only */
  const nagaya_xmp_triplet* subscript;
} nagaya_xmp_side;

typedef enum nagaya_xmp_gmove_mode {
  NAGAYA_XMP_GMOVE,    /* by all executing nodes, to which both arrays belong */
  NAGAYA_XMP_GMOVE_IN, /* the nodes of `from` need not execute it */
  NAGAYA_XMP_GMOVE_OUT /* the nodes of `to` need not execute it */
} nagaya_xmp_gmove_mode;

/* Assigns a section, or one element to a section. It is complete when this returns, with `async`,
 * too. */
void nagaya_xmp_gmove(const char* where, nagaya_xmp_gmove_mode mode, const long* async,
                      nagaya_xmp_side to, nagaya_xmp_side from);

typedef enum nagaya_xmp_operation {
  NAGAYA_XMP_SUM,
  NAGAYA_XMP_PRODUCT,
  NAGAYA_XMP_BIT_AND,
  NAGAYA_XMP_BIT_OR,
  NAGAYA_XMP_BIT_XOR,
  NAGAYA_XMP_AND,
  NAGAYA_XMP_OR,
  NAGAYA_XMP_XOR,
  NAGAYA_XMP_MAX,
  NAGAYA_XMP_MIN,
  NAGAYA_XMP_FIRST_MAX,
  NAGAYA_XMP_FIRST_MIN,
  NAGAYA_XMP_LAST_MAX,
  NAGAYA_XMP_LAST_MIN
} nagaya_xmp_operation;

/* A variable of a reduction clause: it takes the value that it has at the process that has found
 * the maximum or minimum. */
typedef struct nagaya_xmp_location {
  void* data;
  unsigned long bytes;
} nagaya_xmp_location;

/* The variables of a reduction. If maxima are equal, FIRST takes that of the lowest iteration, LAST
 * that of the highest: `iteration` has `loops` numbers, those of outer loops first. If
 * iterations are equal, or not given (`loops` 0), the lowest or highest node decides. */
typedef struct nagaya_xmp_locations {
  int count;
  const nagaya_xmp_location* location;
  int loops;
  const long* iteration; /* the iteration that gave the caller's value */
} nagaya_xmp_locations;

/* Reduces `data` element by element over the set; all processes get the result, the same bit for
 * bit. `locations` may be a null pointer. It does not reduce over dimensions of `on` with `*`: the
 * processes along them hold copies. */
void nagaya_xmp_reduce(const char* where, nagaya_xmp_operation operation, nagaya_xmp_type type,
                       void* data, unsigned long count, const nagaya_xmp_locations* locations,
                       const nagaya_xmp_on* on, const long* async);

/* Returns a copy of `data`, a variable into which a loop reduces: so its value before the loop
 * counts once. The caller frees it by nagaya_xmp_free_copy(). Never a null pointer. */
void* nagaya_xmp_copy(const char* where, const void* data, unsigned long bytes);
void nagaya_xmp_free_copy(void* copy);

/* Returns the lowest index of a template's dimension, in the order of C; of nodes 0. `of`: its
 * descriptor. */
long nagaya_xmp_low_of(void* of, int dimension);
/* Returns the extent of an array's first dimension. */
long nagaya_xmp_length_of(const nagaya_xmp_array* of);
/* ---- coarrays ------------------------------------------------------------------------------- */

/* A coarray: the variable of the program, which is there in every process. An image is a process's
 * number, from 0, among the executing nodes, or among the nodes of `coarray on`. */
typedef struct nagaya_xmp_coarray {
  char* own; /* the caller's */
  /* For each of `count` images how far its coarray lies behind the caller's, in bytes; LONG_MIN: on
   * another machine. `count` is 0 until the first access by the executing nodes. */
  const long* offset;
  unsigned long count;
  struct nagaya_xmp_coarray_state* state; /* used by the runtime only */
} nagaya_xmp_coarray;

/* Declares the variable at `own` as a coarray. All processes of the job call it, in the same order.
 * A second unit may declare the variable, too. `extents`: of all codimensions but the last one.
 * `on`: the nodes of a `coarray on`, or a null pointer. `locks`: how many locks the variable is, if
 * it is one of locks, else 0. */
void nagaya_xmp_declare_coarray(const char* where, nagaya_xmp_coarray* coarray, const char* name,
                                void* own, unsigned long bytes, unsigned long locks,
                                int codimensions, const long* extents, const nagaya_xmp_nodes* on);
/* Called by units that synchronise images. All processes of the job call it, in the same order. */
void nagaya_xmp_use_images(const char* where);

/* Returns the image with these indexes: the first one changes fastest. */
long nagaya_xmp_image_of(const char* where, const nagaya_xmp_coarray* coarray, int count,
                         const long* index);

/* Fills `offset` and `count`, and returns as nagaya_xmp_offset() does. */
long nagaya_xmp_find_offset(nagaya_xmp_coarray* coarray, long image) __attribute__((cold));
/* Returns how far an image's coarray lies behind the caller's, in bytes. The value is the same
 * until the executing nodes change. LONG_MIN: the image is on another machine, or an access to it
 * is an error of the program, which get and put report. */
static __inline__ long nagaya_xmp_offset(nagaya_xmp_coarray* coarray, long image) {
  return __builtin_expect((unsigned long)image < coarray->count, 1)
             ? coarray->offset[image]
             : nagaya_xmp_find_offset(coarray, image);
}
/* Returns where an image at this offset has what the caller has at `place`; for LONG_MIN a null
 * pointer. */
static __inline__ void* nagaya_xmp_behind(const volatile void* place, long offset) {
  return offset == -0x7fffffffffffffffL - 1 ? (void*)0 : (char*)place + offset;
}
/* Read and write where nagaya_xmp_behind() returns a null pointer. It is an error of the program if
 * there is no such image. The result of get is valid until its next call. A put is complete at
 * return. */
void* nagaya_xmp_get(const char* where, nagaya_xmp_coarray* coarray, const volatile void* place,
                     long image, unsigned long bytes) __attribute__((cold));
void nagaya_xmp_put(const char* where, nagaya_xmp_coarray* coarray, const volatile void* place,
                    long image, const void* value, unsigned long bytes) __attribute__((cold));
/* Elements of a variable, side by side or in sections. */
typedef struct nagaya_xmp_part {
  void* first;                 /* where the caller has the first element */
  nagaya_xmp_coarray* coarray; /* a null pointer: the caller's */
  long image;
  int sections;
  long length[7], stride[7]; /* of each section, outer ones first; stride: in bytes */
} nagaya_xmp_part;

/* Gives a part its section number `n`, base:length:step; `row`: the bytes from one index to the
 * next. `extent`: of the dimension, if the program has left out the length, else -1. Returns
 * the base. */
static __inline__ long nagaya_xmp_enter_section(nagaya_xmp_part* part, int n, long extent, long row,
                                                long base, long length, long step) {
  part->length[n] = extent < 0  ? length
                    : step == 0 ? -1 /* nagaya_xmp_assign() refuses it */
                    : step < 0  ? base / -step + 1
                                : (extent - base + step - 1) / step;
  part->stride[n] = step * row;
  if (part->sections <= n) part->sections = n + 1;
  return base;
}
/* Copies the elements of `from`, as if all were read before the first is written. One element goes
 * to all of `to`. At return the copy is complete. */
void nagaya_xmp_assign(const char* where, const nagaya_xmp_part* to, const nagaya_xmp_part* from,
                       unsigned long element_bytes);
/* Define and read an integer of 4 or 8 bytes atomically. */
void nagaya_xmp_atomic_define(const char* where, nagaya_xmp_coarray* coarray, volatile void* place,
                              long image, unsigned long bytes, long value);
long nagaya_xmp_atomic_ref(const char* where, nagaya_xmp_coarray* coarray, volatile void* place,
                           long image, unsigned long bytes);
/* The caller's image. */
long nagaya_xmp_own_image(const nagaya_xmp_coarray* coarray);

/* Locks and unlocks the lock that an image has where the caller has `lock`. Null pointers: without
 * the clauses acquired_lock, stat. */
void nagaya_xmp_lock(const char* where, nagaya_xmp_coarray* coarray, const volatile void* lock,
                     long image, int* acquired, int* status);
void nagaya_xmp_unlock(const char* where, nagaya_xmp_coarray* coarray, const volatile void* lock,
                       long image, int* status);

/* post(node, tag), wait(node, tag): null pointers for what the program leaves out. */
void nagaya_xmp_post(const char* where, const nagaya_xmp_on* node, int tag);
void nagaya_xmp_wait(const char* where, const nagaya_xmp_on* node, const int* tag);

/* The next call of xmp_sync_all() or one of the xmp_sync_image functions is of these nodes. */
void nagaya_xmp_image(const nagaya_xmp_nodes* nodes);

/* ---- checked accesses: xmpcc --check --------------------------------------------------------- */

/* Returns `index` if the block at `base`, or its shadow, has it in the dimension behind which
 * `behind` dimensions follow (an argument may be a row: the last dimensions of an array); else it
 * is an error of the program. Any thread may call it. */
long nagaya_xmp_checked(const char* where, const volatile void* base, int behind, long index);

/* ---- intrinsics of xmp.h that take a name ---------------------------------------------------- */

/* xmp_desc_of(name) */
void* nagaya_xmp_descriptor_of_nodes(const nagaya_xmp_nodes* nodes);
void* nagaya_xmp_descriptor_of_template(const nagaya_xmp_template* described);
void* nagaya_xmp_descriptor_of_array(const nagaya_xmp_array* array);
/* If the elements have this type. */
void* nagaya_xmp_descriptor_of_numbers(const nagaya_xmp_array* array, nagaya_xmp_type type);

#endif
