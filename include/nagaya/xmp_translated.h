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

/* A distributed array, as the translated program sees it: the element of the global indexes
 * (i, j, ...) lies in the block at local indexes (i - first[0], j - first[1], ...). */
typedef struct nagaya_xmp_array {
  char* base;    /* the block of this process, shadow included; a null pointer: it has none */
  long first[7]; /* the global index of local index 0; 0 in a dimension that is not distributed */
  long count[7]; /* extent of the block, shadow included; at least 1 */
  struct nagaya_xmp_array_state* state; /* of the runtime */
} nagaya_xmp_array;

/* ---- beginning ---------------------------------------------------------------------------- */

/* Registers the declarations at file scope of one translation unit; called by its constructor. */
void nagaya_xmp_unit(void (*declare)(void));

/* Called by a constructor behind all calls of nagaya_xmp_unit(), before main(): joins the job, runs
 * the declarations of all units. All processes of the job. A program that is started outside of a
 * space runs as one process. The runtime ends by itself at exit(). */
void nagaya_xmp_begin(void);

/* ---- references to nodes and templates ------------------------------------------------------- */

typedef enum nagaya_xmp_subscript_kind {
  NAGAYA_XMP_STAR,  /* `*`: each process by itself: a set of those with its own coordinate */
  NAGAYA_XMP_RANGE, /* low .. high, each `step`th; one index: low = high */
  NAGAYA_XMP_ALL    /* the whole dimension: `:`, and where a loop's index stands */
} nagaya_xmp_subscript_kind;

typedef struct nagaya_xmp_subscript {
  nagaya_xmp_subscript_kind kind;
  long low, high, step;
} nagaya_xmp_subscript;

/* The subscripts `e` and `base:length:step`; the program computes each of the expressions once. */
static __inline__ nagaya_xmp_subscript nagaya_xmp_index(long index) {
  nagaya_xmp_subscript subscript = {NAGAYA_XMP_RANGE, index, index, 1};
  return subscript;
}
static __inline__ nagaya_xmp_subscript nagaya_xmp_section(long base, long length, long step) {
  nagaya_xmp_subscript subscript = {NAGAYA_XMP_RANGE, base, base + (length - 1) * step, step};
  return subscript;
}

/* The reference behind `on` and its like. One of `nodes` and `of_template` is set. Without
 * subscripts (`on p`): dimensions 0, the whole of it. */
typedef struct nagaya_xmp_on {
  const nagaya_xmp_nodes* nodes;
  const nagaya_xmp_template* of_template;
  int dimensions;
  nagaya_xmp_subscript subscript[7];
} nagaya_xmp_on;

/* ---- declarations ------------------------------------------------------------------------- */

/* nodes name[extent]...: `of` is a null pointer for all processes of the job, else a section of
 * other nodes; `executing`: `= *`, the executing nodes. An extent of -1 (`*`) is as large as
 * possible: at most one, the outermost. `brackets`: the syntax, for inquiries. */
nagaya_xmp_nodes* nagaya_xmp_declare_nodes(const char* where, const char* name, int brackets,
                                           int dimensions, const long* extent,
                                           const nagaya_xmp_on* of, int executing);
void nagaya_xmp_free_nodes(nagaya_xmp_nodes** nodes); /* at the end of its scope */

/* `low` and `high` are null pointers: `template t(:)`, fixed later. */
nagaya_xmp_template* nagaya_xmp_declare_template(const char* where, const char* name,
                                                 int dimensions, const long* low, const long* high);
void nagaya_xmp_fix_template(const char* where, nagaya_xmp_template* fixed, const long* low,
                             const long* high);
void nagaya_xmp_free_template(nagaya_xmp_template** freed);

typedef enum nagaya_xmp_distribution_kind {
  NAGAYA_XMP_NOT_DISTRIBUTED, /* `*` */
  NAGAYA_XMP_BLOCK            /* block, or block(width) */
} nagaya_xmp_distribution_kind;

typedef struct nagaya_xmp_distribution {
  nagaya_xmp_distribution_kind kind;
  long width; /* 0: the extent divided by the number of nodes, rounded up */
} nagaya_xmp_distribution;

/* One distribution for each dimension of the template; those that are distributed go to the
 * dimensions of the nodes in order, and must be as many. */
void nagaya_xmp_distribute(const char* where, nagaya_xmp_template* distributed,
                           const nagaya_xmp_nodes* onto,
                           const nagaya_xmp_distribution* distribution);

/* How one dimension of an array lies on a template: index i on `dimension`'s i + offset. */
typedef struct nagaya_xmp_alignment {
  int dimension; /* of the template; -1: every process has all of it (`*`) */
  long offset;
  long shadow_low, shadow_high;
} nagaya_xmp_alignment;

/* align, shadow: makes the block of this process, zeroed, and fills `*array`. A second unit may
 * declare the same array in the same way, and so does each call of a function that has it as a
 * static variable. Dimensions of the template that no alignment names: every
 * coordinate has a copy. A template that is not fixed yet: the array is made when it is. */
void nagaya_xmp_declare_array(const char* where, nagaya_xmp_array* array, const char* name,
                              unsigned long element_bytes, int dimensions, const long* extent,
                              const nagaya_xmp_template* with,
                              const nagaya_xmp_alignment* alignment);
void nagaya_xmp_free_array(nagaya_xmp_array* array);

/* The array whose block an argument points to, in a function that aligns its formal argument.
 * An error of the program unless there is one, of this element, extents, alignment and shadow. */
const nagaya_xmp_array* nagaya_xmp_formal(const char* where, const void* argument, const char* name,
                                          unsigned long element_bytes, int dimensions,
                                          const long* extent, const nagaya_xmp_template* with,
                                          const nagaya_xmp_alignment* alignment);

/* ---- work ----------------------------------------------------------------------------------- */

/* The part of `for (i = first; i != end; i += step)` that belongs to this process, of the same
 * form: upwards i < end, downwards i > end. */
typedef struct nagaya_xmp_range {
  long first, end;
} nagaya_xmp_range;

/* The loop's index + offset subscripts `dimension` of `on`. Nothing for a process that is outside
 * of the rest of `on`. An index outside of the template: an error of the program. */
nagaya_xmp_range nagaya_xmp_loop(const char* where, const nagaya_xmp_on* on, int dimension,
                                 long offset, long first, long end, long step);

/* 1: the caller belongs to `on`, which is the executing nodes until the task is left. 0: it does
 * not, and skips the block. `nocomm`: the block has no communication. All executing nodes call it.
 */
int nagaya_xmp_enter_task(const char* where, const nagaya_xmp_on* on, int nocomm);
/* Called where enter_task returned 1, also when the block is left by return (a cleanup). */
void nagaya_xmp_leave_task(int* entered);

/* ---- communication: by all executing nodes, or all of `on` where it is no null pointer ---------
 */

typedef struct nagaya_xmp_width {
  long low, high;
  int periodic;
} nagaya_xmp_width;

/* Fills the shadow from the neighbours. `width`: for each dimension of the array, or a null
 * pointer: all of the shadow. `orthogonal`: corners are left as they are. `async`: where its number
 * is, or a null pointer: complete at return. */
void nagaya_xmp_reflect(const char* where, const nagaya_xmp_array* array,
                        const nagaya_xmp_width* width, int orthogonal, const long* async);
void nagaya_xmp_wait_async(const char* where, int count, const long* async,
                           const nagaya_xmp_on* on);

void nagaya_xmp_barrier(const char* where, const nagaya_xmp_on* on);

/* `from`: one node; a null pointer: the first of the set. */
void nagaya_xmp_bcast(const char* where, void* data, unsigned long bytes, const nagaya_xmp_on* from,
                      const nagaya_xmp_on* on, const long* async);

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

/* A variable that takes the value it has where the maximum or minimum was found. */
typedef struct nagaya_xmp_location {
  void* data;
  unsigned long bytes;
} nagaya_xmp_location;

/* Of equal maxima FIRST takes the one of the lowest iteration, LAST of the highest: `iteration` has
 * `loops` numbers, of outer loops first. Equal iterations, or none (`loops` 0): of the lowest or
 * highest node. */
typedef struct nagaya_xmp_locations {
  int count;
  const nagaya_xmp_location* location;
  int loops;
  const long* iteration; /* that gave the caller's value */
} nagaya_xmp_locations;

/* Element by element over the set; all get the result, which is the same bit for bit. `locations`
 * may be a null pointer. Of `on`, dimensions of `*` are not reduced over: the processes along them
 * hold copies. */
void nagaya_xmp_reduce(const char* where, nagaya_xmp_operation operation, nagaya_xmp_type type,
                       void* data, unsigned long count, const nagaya_xmp_locations* locations,
                       const nagaya_xmp_on* on, const long* async);

/* A copy of `data`: of a variable whose parts a loop reduces, so that its value before the loop
 * counts once. The caller releases it by nagaya_xmp_free_copy(). Never a null pointer. */
void* nagaya_xmp_copy(const char* where, const void* data, unsigned long bytes);
void nagaya_xmp_free_copy(void* copy);

/* ---- checked accesses: xmpcc --check --------------------------------------------------------- */

/* `index`, if the block at `base` has it in this dimension of its array, or its shadow has; else an
 * error of the program. Any thread. */
long nagaya_xmp_checked(const char* where, const volatile void* base, int dimension, long index);

/* ---- intrinsics of xmp.h that take a name ---------------------------------------------------- */

/* xmp_desc_of(name) */
void* nagaya_xmp_descriptor_of_nodes(const nagaya_xmp_nodes* nodes);
void* nagaya_xmp_descriptor_of_template(const nagaya_xmp_template* described);
void* nagaya_xmp_descriptor_of_array(const nagaya_xmp_array* array);

#endif
