/* SPDX-License-Identifier: BSD-3-Clause */
/* fmpl.h - FMPL, the message passing library of Tatebe and others, for C. For Fortran: the module
 * `fmpl`, or plain calls with the status as their last argument.
 *
 *   fmpl_area areas[16];
 *   fmpl_flag flags[16];
 *   fmpl_init(areas, flags, 16);
 *   if (fmpl_rank(FMPL_COMM_WORLD) == 0) fmpl_send(x, sizeof x, 1, 3);
 *   if (fmpl_rank(FMPL_COMM_WORLD) == 1) fmpl_recv(x, sizeof x, 0, 3);
 *   fmpl_finalize();
 *
 * A message is named by its two processes and the index of a matching area, 0 .. count-1, which
 * both pass. There are no queues, no tags, no wildcards: messages that are pending at once, and
 * have their sender or receiver in common, need different indexes. A receiver tells the sender
 * where the data are to go; they go there in one copy. Programs need no MPI; in a program that uses
 * MPI, ranks are those of MPI_COMM_WORLD.
 * Sizes are in bytes, times in microseconds. Where the published interface leaves something open,
 * this header decides it. Thread safety: none. Death of a process: the job ends. A process that
 * ends with exit code 0 leaves those waiting that wait for it.
 */
#ifndef NAGAYA_FMPL_H
#define NAGAYA_FMPL_H

#include <nagaya/area.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The statuses that functions return; Fortran's `ier`. */
enum {
  FMPL_SUCCESS = 0,
  FMPL_ERR_INIT = 1,     /* not between fmpl_init() and fmpl_finalize(), in no space, or in a child
                            that a process has forked: there fmpl_rank() and fmpl_size() are -1 */
  FMPL_ERR_ARGUMENT = 2, /* rank, index, communicator or function does not exist */
  FMPL_ERR_TRUNCATE = 3, /* the message was longer than the buffer, which has its beginning */
  FMPL_ERR_INDEX = 4,    /* two messages that are awaited at once have this index */
  FMPL_ERR_SPOOL = 5,    /* no room in the spool: nothing is sent; or it is not empty */
  FMPL_ERR_MEMORY = 6,
  FMPL_ERR_CANCEL = 7, /* too late: the message is there */
  FMPL_ERR_NETWORK = 8
};

typedef nagaya_area_cell fmpl_area; /* Fortran: integer(8), 8 of them for one index */
typedef uint64_t fmpl_flag;         /* Fortran: integer(8) */

/* Collective. `count` areas and flags, the same number everywhere. */
int fmpl_init(fmpl_area* ma, fmpl_flag* fa, int count);
/* Collective. Sends the messages of the spool first, and so waits until each has been received;
 * returns their error if fmpl_sendbuff_check() has not returned it yet. A process that ends with
 * exit code 0 and has not called it ends the job, unless it is alone. */
int fmpl_finalize(void);

/* ---- messages ---------------------------------------------------------------------------- */

/* Sends `size` bytes to rank `dst`. Returns when the caller may change `buf` again: with a spool,
 * at the latest after the time of fmpl_sendbuff_set(). Messages of one index to one process arrive
 * in their order, also those in the spool. */
int fmpl_send(const void* buf, size_t size, int dst, int mai);
int fmpl_recv(void* buf, size_t size, int src, int mai);

/* A request belongs to the caller, and stays where it is until a wait or a test has completed it.
 * Fortran: integer(8), FMPL_REQUEST_WORDS of them. */
enum { FMPL_REQUEST_WORDS = 48 };
typedef struct fmpl_request {
  uint64_t words[FMPL_REQUEST_WORDS];
} fmpl_request;

int fmpl_isend(const void* buf, size_t size, int dst, int mai, fmpl_request* request);
int fmpl_irecv(void* buf, size_t size, int src, int mai, fmpl_request* request);
int fmpl_wait_isend(fmpl_request* request);
int fmpl_wait_irecv(fmpl_request* request);
/* Prepare a request that the caller starts, and waits for, as often as it likes. A prepared
 * receive's header lies in the sender's matching area from the beginning: a start only signals the
 * sender. The receive keeps its index until fmpl_irecv_release(). To start a pending request
 * returns FMPL_ERR_INDEX; in a node, to start a released receive: FMPL_ERR_ARGUMENT. `buf` of a
 * send may have other data each time; to have another `buf` or `size`, prepare the request again,
 * which costs a send nothing.
 * (Extension: the paper has the descriptors, but publishes no calls for them.) */
int fmpl_isend_prepare(const void* buf, size_t size, int dst, int mai, fmpl_request* request);
int fmpl_irecv_prepare(void* buf, size_t size, int src, int mai, fmpl_request* request);
int fmpl_isend_start(fmpl_request* request);
int fmpl_irecv_start(fmpl_request* request);
int fmpl_irecv_release(fmpl_request* request);
/* Set *flag to 1 if the request is complete, and return its status then; else set it to 0. */
int fmpl_test_isend(fmpl_request* request, int* flag);
int fmpl_test_irecv(fmpl_request* request, int* flag);
/* Cancels a receive. A program that would receive from any process calls fmpl_irecv() for each of
 * them, and then cancels the others. */
int fmpl_cancel_irecv(fmpl_request* request);

/* Sets the spool: memory for messages whose receivers are late. fmpl_send() waits for `ipara`
 * microseconds, then copies the message there. Size 0: no spool from now on. */
int fmpl_sendbuff_set(void* buf, size_t size, int ipara);
/* Sends the messages of the spool that receivers have asked for by now. *nsend gets their number,
 * *nspool the number of those that remain. A process that does not wait calls it now and then. */
int fmpl_sendbuff_check(int* nsend, int* nspool);

/* ---- communicators ----------------------------------------------------------------------- */

enum { FMPL_COMM_WORLD = 0, FMPL_COMM_NULL = -1 };

/* Collective among all processes: processes with the same key become a communicator, in the order
 * of their ranks. A process with a negative key gets FMPL_COMM_NULL. */
int fmpl_comm_create(int* comm, int key);
int fmpl_comm_free(int* comm);
/* The caller's rank, and the number of members; negative: there is no such communicator. */
int fmpl_rank(int comm);
int fmpl_size(int comm);

/* Called by all members: from now on the collectives of `comm` may use memory that all processes of
 * a node can load (nonzero, the default), or are trees of messages (0). (Extension: the paper
 * measures both.) */
int fmpl_support_set(int comm, int support);

/* ---- collectives ------------------------------------------------------------------------- */

/* inout[n] = in[n] op inout[n]. The predefined ones: sums; items of the greatest and of the least
 * absolute value (of complex numbers |re| + |im|; of equal ones the greater number, and of complex
 * ones that with the greater real part, then imaginary part). Types: i int, s float, d double, c
 * and z complex of these. */
typedef void fmpl_func(const void* in, void* inout, int count);
fmpl_func fmpl_isum, fmpl_ssum, fmpl_dsum, fmpl_csum, fmpl_zsum;
fmpl_func fmpl_imax, fmpl_smax, fmpl_dmax, fmpl_cmax, fmpl_zmax;
fmpl_func fmpl_imin, fmpl_smin, fmpl_dmin, fmpl_cmin, fmpl_zmin;
/* Registers the caller's own function on items of `size` bytes, which must be associative.
 * fmpl_reduce() and fmpl_allreduce() then accept it. */
int fmpl_func_set(fmpl_func* func, size_t size);

int fmpl_barrier(int comm);
int fmpl_bcast(void* buf, size_t size, int root, int comm);
/* Broadcasts to all processes by shared memory, even if fmpl_support_set() has forbidden that for
 * FMPL_COMM_WORLD. */
int fmpl_hbcast(void* buf, size_t size, int root);
/* Reduce `count` items in `buf`, and store the result in `buf`: at the root, or everywhere. `work`
 * is as large as `buf`, and not used here. Items are combined in the order of the ranks, so the
 * result is the same on all of them, and in each run. */
int fmpl_reduce(void* buf, int count, fmpl_func* func, int root, int comm, void* work);
int fmpl_allreduce(void* buf, int count, fmpl_func* func, int comm, void* work);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
