/* SPDX-License-Identifier: BSD-3-Clause */
/* xmp.h - functions and constants of XcalableMP/C, for programs that xmpcc translates.
 *
 * Numbers of nodes begin at 1, in the order of the declaration's first dimension in parentheses.
 * `dim` begins at 1: of nodes and templates it counts as in parentheses, t(1, 2, ...), so t[..][..]
 * has its last dimension first; of arrays it counts from the left. Offsets and bounds are the
 * program's own.
 * Functions that return int return 0, or XMP_FAILURE: the descriptor is of another kind, there is
 * no such dimension, or no answer; XMP_UNDEFINED is stored where there is no answer.
 * Thread safety: none; called outside of OpenMP's parallel regions.
 * A child that the program forks has no part in the job: directives and functions that communicate
 * end the child by one line and exit code 1; the others answer from its copy of the declarations.
 * A compiler other than xmpcc gets the serial program: one node, by inline functions at the end of
 * this header, without any library. There a descriptor has no answers.
 * Source: XcalableMP specification 1.4, runtime library routines, and its appendix of extended
 * inquiry functions; names and constants as in the Omni compiler. Different from the specification:
 * xmp_array_gtol() returns an int, and the transformational functions take descriptors.
 */
#ifndef NAGAYA_XMP_H
#define NAGAYA_XMP_H

#include <stddef.h>
#ifndef _XCALABLEMP
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#endif

/* MPI's functions are there if the program includes mpi.h before, and always where a compiler of
 * MPI's compiles (OMPI_CC=xmpcc mpicc, say), as with the Omni compiler. xmpcc defines
 * _XMPCC_FOUND_MPI where it has itself added MPI's folders. */
#if !defined(MPI_VERSION) && !defined(_XMPCC_FOUND_MPI) && defined(__has_include)
#if __has_include(<mpi.h>)
#include <mpi.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define XMP_FAILURE (-2000)
#define XMP_UNDEFINED (-2001)

/* Results of xmp_nodes_attr(). */
#define XMP_ENTIRE_NODES 2000
#define XMP_EXECUTING_NODES 2001
#define XMP_PRIMARY_NODES 2002
#define XMP_EQUIVALENCE_NODES 2003

/* Results of xmp_dist_format(). */
#define XMP_NOT_DISTRIBUTED 2100
#define XMP_BLOCK 2101
#define XMP_CYCLIC 2102
#define XMP_GBLOCK 2103

/* Results of xmp_desc_kind(). */
#define XMP_DESC_NODES 2200
#define XMP_DESC_TEMPLATE 2201
#define XMP_DESC_ARRAY 2202

/* The status of functions and directives that synchronise images. */
#define XMP_STAT_SUCCESS 0
#define XMP_STAT_STOPPED_IMAGE 2300 /* an image has ended the program */
#define XMP_STAT_LOCKED 2301
#define XMP_STAT_UNLOCKED 2302
#define XMP_STAT_LOCKED_OTHER_IMAGE 2303

/* A lock, for coarrays: xmp_lock_t lock:[*]; directives lock and unlock. */
typedef struct xmp_lock_t {
  char is_of_the_library;
} xmp_lock_t;

/* A descriptor: xmp_desc_of(name), which xmpcc translates. */
typedef void* xmp_desc_t;

/* Below. */
#define xmp_malloc(d, ...) \
  nagaya_xmp_malloc((d), sizeof((long[]){__VA_ARGS__}) / sizeof(long), (const long[]){__VA_ARGS__})

#ifdef _XCALABLEMP
#pragma GCC visibility push(default)

int xmp_desc_kind(xmp_desc_t d, int* kind);

/* ---- the caller -------------------------------------------------------------------------- */

int xmp_all_node_num(void);  /* its number in the job */
int xmp_all_num_nodes(void); /* how many the job has */
int xmp_node_num(void);      /* its number among the executing nodes */
int xmp_num_nodes(void);     /* how many execute this */
int xmpc_all_node_num(void); /* the same from 0 */
int xmpc_node_num(void);
int xmpc_this_image(void); /* as xmpc_node_num() */
int xmp_num_images(void);  /* as xmp_num_nodes() */

double xmp_wtime(void); /* since a time in the past                                 [seconds] */
double xmp_wtick(void); /* its resolution                                           [seconds] */

/* Waits for all executing nodes. */
void xmp_barrier(void);
/* Whether what `async(async_id)` has started is complete: 1, 0. */
int xmp_test_async(int async_id);
/* As exit(): 0, of all processes, or another status, which ends the job. */
void xmp_exit(int status);

/* ---- coarrays ---------------------------------------------------------------------------- */

/* Images are numbered from 0, among the executing nodes or those of the `image` directive before
 * the call. `status` gets XMP_STAT_SUCCESS. An image that the caller waits for may have ended the
 * program, with exit code 0: then `status` gets XMP_STAT_STOPPED_IMAGE and the others go on; if it
 * is NULL the job ends with an error. If an image dies or ends with an error, the job ends.
 * The functions but sync_memory wait until all executing nodes, one image, or those of a set have
 * called them: those in the set as often as the caller has named them. Then each sees what the
 * others have stored in coarrays before. */
void xmp_sync_all(int* status);
void xmp_sync_image(int image, int* status);
void xmp_sync_images(int num, int* image_set, int* status);
void xmp_sync_images_all(int* status);
/* Completes the caller's own accesses. */
void xmp_sync_memory(int* status);

/* `atom` is an integer coarray of 4 or 8 bytes, or an element of one: of the caller or, with :[k],
 * of an image. xmpcc translates both. */
void xmp_atomic_define(int atom, int value);
void xmp_atomic_ref(int* value, int atom);

/* Translate images of nodes into those of the job, and into those of the executing nodes (-1: it is
 * none of them). All count from 0. */
void xmp_get_primary_image_index(int number, const int index[], int primary[], xmp_desc_t nodes);
void xmp_get_image_index(int number, const int index[], int current[], xmp_desc_t nodes);

/* ---- nodes ------------------------------------------------------------------------------- */

int xmp_nodes_ndims(xmp_desc_t d, int* ndims);
int xmp_nodes_index(xmp_desc_t d, int dim, int* index);  /* the caller's, from 1 */
int xmpc_nodes_index(xmp_desc_t d, int dim, int* index); /* the caller's, from 0 */
int xmp_nodes_size(xmp_desc_t d, int dim, int* size);
int xmp_nodes_rank(xmp_desc_t d, int* rank); /* the caller's number, from 1 */
int xmp_nodes_attr(xmp_desc_t d, int* attr);
/* The nodes that these are a section of, and which, by `dim` of those: from 1, both ends included.
 */
int xmp_nodes_equiv(xmp_desc_t d, xmp_desc_t* dn, int lb[], int ub[], int st[]);

/* ---- templates --------------------------------------------------------------------------- */

int xmp_template_fixed(xmp_desc_t d, int* fixed);
int xmp_template_ndims(xmp_desc_t d, int* ndims);
int xmp_template_lbound(xmp_desc_t d, int dim, int* lbound);
int xmp_template_ubound(xmp_desc_t d, int dim, int* ubound);
int xmp_dist_format(xmp_desc_t d, int dim, int* format);
int xmp_dist_blocksize(xmp_desc_t d, int dim, int* blocksize);
/* The sizes of a gblock dimension, one for each node along it. */
int xmp_dist_gblockmap(xmp_desc_t d, int dim, int map[]);
int xmp_dist_nodes(xmp_desc_t d, xmp_desc_t* dn);
int xmp_dist_axis(xmp_desc_t d, int dim, int* axis); /* of the nodes */

/* ---- arrays ------------------------------------------------------------------------------ */

int xmp_align_axis(xmp_desc_t d, int dim, int* axis); /* of the template */
int xmp_align_offset(xmp_desc_t d, int dim, int* offset);
/* Whether each node along `dim` of the template has a copy. */
int xmp_align_replicated(xmp_desc_t d, int dim, int* replicated);
int xmp_align_template(xmp_desc_t d, xmp_desc_t* dt);

int xmp_array_ndims(xmp_desc_t d, int* ndims);
int xmp_array_lbound(xmp_desc_t d, int dim, int* lbound);
int xmp_array_ubound(xmp_desc_t d, int dim, int* ubound);
int xmp_array_lshadow(xmp_desc_t d, int dim, int* lshadow);
int xmp_array_ushadow(xmp_desc_t d, int dim, int* ushadow);
size_t xmp_array_type_size(xmp_desc_t d); /* of an element, 0: no array            [bytes] */
int xmp_array_gsize(xmp_desc_t d, int dim);

/* The caller's block. */
int xmp_array_laddr(xmp_desc_t d, void** laddr); /* where it begins, with its shadow */
/* How many indexes of a dimension the caller has, without the shadow: since version 1.3 of the
 * specification. The Omni compiler's counts the shadow, too. */
int xmp_array_lsize(xmp_desc_t d, int dim, int* lsize);
/* The distance in elements, shadow included, between two rows of the block of a two-dimensional
 * array. */
int xmp_array_lda(xmp_desc_t d, int* lda);
/* The elements from one index to the next, in each dimension; the Omni compiler's. */
int xmp_array_lead_dim(xmp_desc_t d, int size[]);
/* The index in the block, which begins with its shadow, of a global one. */
int xmp_array_gtol(xmp_desc_t d, int dim, int g_idx, int* lidx);

/* Makes the array of an aligned pointer, all zero, whose dimensions have these sizes, and returns
 * the caller's block, for the pointer. Called by all executing nodes, among which are all nodes of
 * its template; the template is fixed. An error of the program ends it.
 *
 *   double (*u)[N];
 *   #pragma xmp align u[i][*] with t[i]
 *   u = (double (*)[N])xmp_malloc(xmp_desc_of(u), M, N);
 *
 * xmp_free(xmp_desc_of(u)) frees the array, and so does free(u) in the file that aligns u. In the
 * serial program there is room for elements of at most 32 bytes. */
void* nagaya_xmp_malloc(xmp_desc_t d, size_t count, const long size[]);
void xmp_free(xmp_desc_t d);

/* ---- transformations ------------------------------------------------------------------------ */

/* The transformational functions of the specification. Arguments are descriptors of distributed
 * arrays of any distribution, with elements of one type; the arrays of a call do not overlap. All
 * executing nodes call, and these contain the nodes of the arrays. Wrong arguments end the job with
 * a line. */

/* x[idx1[k]][idx2[k]]... = a[k] for each index k of a: one idx, of integers, for each dimension of
 * x, with the shape and alignment of a. If two name one element, it has one of the values. */
void xmp_scatter(xmp_desc_t x, xmp_desc_t a, ... /* idx1, idx2, ... */);
/* x[k] = a[idx1[k]][idx2[k]]... for each index k of x. */
void xmp_gather(xmp_desc_t x, xmp_desc_t a, ... /* idx1, idx2, ... */);
/* The elements of a that the integers of mask select, or all of them if it is NULL, in the order of
 * C become v[0], v[1], ...; and the other way. */
void xmp_pack(xmp_desc_t v, xmp_desc_t a, xmp_desc_t mask);
void xmp_unpack(xmp_desc_t a, xmp_desc_t v, xmp_desc_t mask);
void xmp_transpose(xmp_desc_t x, xmp_desc_t a, int may_change_a); /* a does not change */
void xmp_matmul(xmp_desc_t x, xmp_desc_t a, xmp_desc_t b);
void xmp_sort_up(xmp_desc_t v1, xmp_desc_t v2); /* v1 = v2 in ascending order */
void xmp_sort_down(xmp_desc_t v1, xmp_desc_t v2);

/* ---- extensions -------------------------------------------------------------------------- */

/* Where the owner of an element has it, if that is the caller or a process of the same machine:
 * program and owner may both load and store there, and see to the order. `index`: of each dimension
 * of the array. NULL: the owner is on another machine, there is no such element, or the caller is
 * none of the array's nodes.
 *
 *   double *left = nagaya_xmp_element(xmp_desc_of(u), (long[]){first - 1, 0});
 *   if (left != NULL) sum += left[0] + left[1];      // a row of it is contiguous */
void* nagaya_xmp_element(xmp_desc_t d, const long index[]);

/* For the functions below. The first one ends the program unless the job has so many
 * processes. The others are of the executing nodes: their ranks, in their order, and 8 bytes that
 * the library keeps for them, zero at first. */
void nagaya_xmp_expect_processes(int count);
const int* nagaya_xmp_executing_ranks(int* count);
void* nagaya_xmp_kept_for_executing(void);

#pragma GCC visibility pop

#else /* ---- the serial program: one node -------------------------------------------------- */

/* Translated units of the same program find it, and refuse to begin: they would have other nodes
 * than this unit. */
extern __attribute__((weak, visibility("default"))) char nagaya_xmp_serial_unit;
__attribute__((weak, visibility("default"))) char nagaya_xmp_serial_unit = 1;

#define xmp_desc_of(name) ((xmp_desc_t)0)

#define NAGAYA_XMP_SERIAL static __inline__ __attribute__((unused))

NAGAYA_XMP_SERIAL int xmp_all_node_num(void) {
  return 1;
}
NAGAYA_XMP_SERIAL int xmp_all_num_nodes(void) {
  return 1;
}
NAGAYA_XMP_SERIAL int xmp_node_num(void) {
  return 1;
}
NAGAYA_XMP_SERIAL int xmp_num_nodes(void) {
  return 1;
}
NAGAYA_XMP_SERIAL int xmp_num_images(void) {
  return 1;
}
NAGAYA_XMP_SERIAL int xmpc_all_node_num(void) {
  return 0;
}
NAGAYA_XMP_SERIAL int xmpc_node_num(void) {
  return 0;
}
NAGAYA_XMP_SERIAL int xmpc_this_image(void) {
  return 0;
}
NAGAYA_XMP_SERIAL void xmp_barrier(void) {}
NAGAYA_XMP_SERIAL void xmp_sync_memory(int* status) {
  if (status != NULL) *status = XMP_STAT_SUCCESS;
}
NAGAYA_XMP_SERIAL void xmp_sync_all(int* status) {
  xmp_sync_memory(status);
}
NAGAYA_XMP_SERIAL void xmp_sync_image(int image, int* status) {
  (void)image, xmp_sync_memory(status);
}
NAGAYA_XMP_SERIAL void xmp_sync_images(int num, int* image_set, int* status) {
  (void)num, (void)image_set, xmp_sync_memory(status);
}
NAGAYA_XMP_SERIAL void xmp_sync_images_all(int* status) {
  xmp_sync_memory(status);
}
NAGAYA_XMP_SERIAL int xmp_test_async(int async_id) {
  return (void)async_id, 1;
}
NAGAYA_XMP_SERIAL void xmp_exit(int status) {
  exit(status);
}

#ifdef TIME_UTC
NAGAYA_XMP_SERIAL double xmp_wtime(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
NAGAYA_XMP_SERIAL double xmp_wtick(void) {
  return 1e-9;
}
#else /* C before 2011 */
NAGAYA_XMP_SERIAL double xmp_wtime(void) {
  return (double)time(NULL);
}
NAGAYA_XMP_SERIAL double xmp_wtick(void) {
  return 1;
}
#endif

/* A compiler that ignores the directives knows neither nodes, templates nor alignments. */
NAGAYA_XMP_SERIAL int nagaya_xmp_no_answer(xmp_desc_t d, int* answer) {
  (void)d;
  *answer = XMP_UNDEFINED;
  return XMP_FAILURE;
}
NAGAYA_XMP_SERIAL int nagaya_xmp_no_descriptor(xmp_desc_t d, xmp_desc_t* other) {
  (void)d;
  *other = NULL;
  return XMP_FAILURE;
}
#define NAGAYA_XMP_ASKS_OF(function)                          \
  NAGAYA_XMP_SERIAL int function(xmp_desc_t d, int* answer) { \
    return nagaya_xmp_no_answer(d, answer);                   \
  }
#define NAGAYA_XMP_ASKS_OF_DIMENSION(function)                               \
  NAGAYA_XMP_SERIAL int function(xmp_desc_t d, int dimension, int* answer) { \
    return (void)dimension, nagaya_xmp_no_answer(d, answer);                 \
  }
#define NAGAYA_XMP_ASKS_FOR_DESCRIPTOR(function)                    \
  NAGAYA_XMP_SERIAL int function(xmp_desc_t d, xmp_desc_t* other) { \
    return nagaya_xmp_no_descriptor(d, other);                      \
  }

NAGAYA_XMP_SERIAL int xmp_desc_kind(xmp_desc_t d, int* kind) {
  return (void)d, (void)kind, XMP_FAILURE;
}
NAGAYA_XMP_ASKS_OF(xmp_nodes_ndims)
NAGAYA_XMP_ASKS_OF(xmp_nodes_rank)
NAGAYA_XMP_ASKS_OF(xmp_nodes_attr)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_nodes_index)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmpc_nodes_index)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_nodes_size)
NAGAYA_XMP_SERIAL int xmp_nodes_equiv(xmp_desc_t d, xmp_desc_t* dn, int lb[], int ub[], int st[]) {
  (void)lb, (void)ub, (void)st;
  return nagaya_xmp_no_descriptor(d, dn);
}
NAGAYA_XMP_ASKS_OF(xmp_template_fixed)
NAGAYA_XMP_ASKS_OF(xmp_template_ndims)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_template_lbound)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_template_ubound)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_dist_format)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_dist_blocksize)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_dist_axis)
NAGAYA_XMP_SERIAL int xmp_dist_gblockmap(xmp_desc_t d, int dim, int map[]) {
  return (void)d, (void)dim, (void)map, XMP_FAILURE;
}
NAGAYA_XMP_ASKS_FOR_DESCRIPTOR(xmp_dist_nodes)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_align_axis)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_align_offset)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_align_replicated)
NAGAYA_XMP_ASKS_FOR_DESCRIPTOR(xmp_align_template)
NAGAYA_XMP_ASKS_OF(xmp_array_ndims)
NAGAYA_XMP_ASKS_OF(xmp_array_lda)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_array_lbound)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_array_ubound)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_array_lshadow)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_array_ushadow)
NAGAYA_XMP_ASKS_OF_DIMENSION(xmp_array_lsize)
NAGAYA_XMP_ASKS_FOR_DESCRIPTOR(xmp_array_laddr)
NAGAYA_XMP_SERIAL size_t xmp_array_type_size(xmp_desc_t d) {
  return (void)d, 0;
}
NAGAYA_XMP_SERIAL int xmp_array_gsize(xmp_desc_t d, int dim) {
  return (void)d, (void)dim, XMP_UNDEFINED;
}
NAGAYA_XMP_SERIAL int xmp_array_lead_dim(xmp_desc_t d, int size[]) {
  return (void)d, (void)size, XMP_FAILURE;
}
NAGAYA_XMP_SERIAL int xmp_array_gtol(xmp_desc_t d, int dim, int g_idx, int* lidx) {
  (void)dim, (void)g_idx;
  return nagaya_xmp_no_answer(d, lidx);
}
NAGAYA_XMP_SERIAL void* nagaya_xmp_malloc(xmp_desc_t d, size_t count, const long size[]) {
  size_t elements = 1, n;
  (void)d;
  for (n = 0; n < count; n++) elements *= (size_t)size[n];
  return calloc(elements, 32);
}
NAGAYA_XMP_SERIAL void xmp_free(xmp_desc_t d) {
  (void)d;
}
NAGAYA_XMP_SERIAL void* nagaya_xmp_element(xmp_desc_t d, const long index[]) {
  return (void)d, (void)index, (void*)NULL;
}

/* No answers, and no elements either: a call of these functions does not compile. */
#if defined(__has_attribute)
#if __has_attribute(error)
#define NAGAYA_XMP_NEEDS_XMPCC \
  __attribute__((error("this function works on distributed arrays: compile with xmpcc")))
#endif
#endif
#ifndef NAGAYA_XMP_NEEDS_XMPCC
#define NAGAYA_XMP_NEEDS_XMPCC
#endif
void xmp_scatter(xmp_desc_t x, xmp_desc_t a, ...) NAGAYA_XMP_NEEDS_XMPCC;
void xmp_gather(xmp_desc_t x, xmp_desc_t a, ...) NAGAYA_XMP_NEEDS_XMPCC;
void xmp_pack(xmp_desc_t v, xmp_desc_t a, xmp_desc_t mask) NAGAYA_XMP_NEEDS_XMPCC;
void xmp_unpack(xmp_desc_t a, xmp_desc_t v, xmp_desc_t mask) NAGAYA_XMP_NEEDS_XMPCC;
void xmp_transpose(xmp_desc_t x, xmp_desc_t a, int may_change_a) NAGAYA_XMP_NEEDS_XMPCC;
void xmp_matmul(xmp_desc_t x, xmp_desc_t a, xmp_desc_t b) NAGAYA_XMP_NEEDS_XMPCC;
void xmp_sort_up(xmp_desc_t v1, xmp_desc_t v2) NAGAYA_XMP_NEEDS_XMPCC;
void xmp_sort_down(xmp_desc_t v1, xmp_desc_t v2) NAGAYA_XMP_NEEDS_XMPCC;

NAGAYA_XMP_SERIAL void nagaya_xmp_expect_processes(int count) {
  if (count == 1) return;
  fprintf(stderr,
          "nagaya: XMP: xmp_init: its communicator has %d processes, but this program was compiled "
          "without xmpcc and is serial: compile it with xmpcc\n",
          count);
  exit(1);
}
NAGAYA_XMP_SERIAL const int* nagaya_xmp_executing_ranks(int* count) {
  static const int own = 0;
  return *count = 1, &own;
}
NAGAYA_XMP_SERIAL void* nagaya_xmp_kept_for_executing(void) {
  static int kept[2];
  return kept;
}

#endif

#ifdef __cplusplus
}
#endif

/* ---- MPI beside -------------------------------------------------------------------------- */

/* MPI may be initialised by the program's MPI_Init() or xmp_init_mpi(); the launcher is MPI's, or
 * `nagaya run`. */
#ifdef MPI_VERSION

/* Initialises MPI, if that has not been done. */
static inline void xmp_init_mpi(int* argc, char*** argv) {
  int is_initialized;
  MPI_Initialized(&is_initialized);
  if (!is_initialized) MPI_Init(argc, argv);
}

/* Finalises it. */
static inline void xmp_finalize_mpi(void) {
  int is_finalized;
  MPI_Finalized(&is_finalized);
  if (!is_finalized) MPI_Finalize();
}

/* From a main() that calls functions of XcalableMP's: `comm` has all processes of the job. The
 * runtime has begun with the program, and ends with it. */
static inline void xmp_init(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  nagaya_xmp_expect_processes(size);
}
static inline void xmp_finalize(void) {}

/* The communicator of the executing nodes, in their order. Collective among them at the first call;
 * the library's: not to be freed. */
static inline MPI_Comm xmp_get_mpi_comm(void) {
  struct nagaya_xmp_kept_communicator {
    int is_made;
    int f_handle;
  }* const kept = (struct nagaya_xmp_kept_communicator*)nagaya_xmp_kept_for_executing();
  if (!kept->is_made) {
    int count;
    const int* const ranks = nagaya_xmp_executing_ranks(&count);
    MPI_Group world, group;
    MPI_Comm made;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, ranks, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &made);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    kept->f_handle = (int)MPI_Comm_c2f(made);
    kept->is_made = 1;
  }
  return MPI_Comm_f2c((MPI_Fint)kept->f_handle);
}

#endif

#endif
