/* SPDX-License-Identifier: BSD-3-Clause */
/* match.h - two-sided messages between the processes of a job, matched as MPI has it: by context,
 * source and tag, first come, first served, with wildcards.
 *
 * A message of up to nagaya_match_eager_max(to) bytes is handed over at once and waits at its
 * receiver until it is asked for. A longer one stays where it is: when it is matched, the receiver
 * copies it from there, and the sender helps as long as it waits (rendezvous).
 *
 *   nagaya_receive receive = {.wanted = {context, NAGAYA_ANY_SOURCE, 7},
 *                             .from = {UINT32_MAX, UINT32_MAX}, .buffer = ...};
 *   nagaya_match_receive(&receive);
 *   while (!receive.is_complete) nagaya_match_progress();
 *
 * Processes are those of this node, and from nagaya_comm_init() (comm.h) on, which is called before
 * any of these functions, those of all nodes:
 * messages of other nodes are matched with those of this one, in the order of their arrival.
 * Requests are the caller's memory; they must stay where they are, with their buffers, until they
 * are complete. Nothing moves but in calls of these functions and in the task's waits (llcl.h,
 * comm.h): a caller that waits by itself calls nagaya_match_progress().
 * Order: messages of one sender, by one thread or by threads that agree on their order, are matched
 * in the order in which they were sent.
 * Errors: negative errno codes. Before nagaya_match_open(), and in a forked child, all functions
 * that return int return -ESRCH.
 * Thread safety: none, unless nagaya_match_open() is told of threads. `complete` functions are
 * called without a lock, by whichever thread makes progress, and may call all functions here.
 */
#ifndef NAGAYA_MATCH_H
#define NAGAYA_MATCH_H

#include <nagaya/llcl.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define NAGAYA_ANY_SOURCE (-1)
#define NAGAYA_ANY_TAG (-1) /* any that is not negative */

typedef struct nagaya_envelope {
  uint32_t context; /* of the communicator */
  int32_t source;   /* the sender's rank there */
  int32_t tag;
} nagaya_envelope;

/* The library's part of a request. */
typedef struct nagaya_match_member {
  struct nagaya_match_member *previous, *next;
  void* whole;
} nagaya_match_member;

/* Before anything else, by one thread: takes part with what the environment says
 * (NAGAYA_EAGER_BYTES). Messages that came before are there. In a job whose tasks leave each other
 * their memory (`nagaya run`; `keep_ended` of task.h): messages outlive their senders.
 * One library of a process has these functions at a time, because contexts below 2^30 are its own
 * to give: an MPI that uses Nagaya from MPI_Init() to MPI_Finalize(). Those above are Nagaya's own.
 *
 *   threads   nonzero: several threads may call from then on, at once or by turns
 *
 * Returns 0, -EINVAL (NAGAYA_EAGER_BYTES is no number of 0 .. 1048576; NAGAYA_TUNING names a file
 * that is no tuning table, or not the table that other tasks of the space have), -EBUSY (another
 * library of this process has it open, or it was opened for one thread before), -ENOMEM, -ESRCH. */
int nagaya_match_open(int threads);

/* By the library that has opened it, when no request of its own is left: another may open it.
 * The task goes on to take messages out of its port. Returns 0, -ESRCH. */
int nagaya_match_close(void);

/* Contexts from here on have libnagaya-blacs, area.h, array.h and coll.h; MPI has those below. */
#define NAGAYA_CONTEXTS_BLACS UINT32_C(0x40000000)
#define NAGAYA_CONTEXTS_AREAS UINT32_C(0x60000000)
#define NAGAYA_CONTEXTS_ARRAYS UINT32_C(0x70000000)
#define NAGAYA_CONTEXTS_COLL UINT32_C(0x80000000)

/* As nagaya_match_open(), beside a library that has it open or none: for libraries of Nagaya's,
 * whose contexts differ from each other's.
 * The task takes part until it ends. Returns 0, -EINVAL, -EBUSY (it was opened for one thread
 * before), -ENOMEM, -ESRCH. */
int nagaya_match_join(int threads);

/* The caller, as others send to it. {UINT32_MAX, UINT32_MAX} before nagaya_match_open(). */
nagaya_process nagaya_match_self(void);

/* ---- sending ----------------------------------------------------------------------------- */

#define NAGAYA_CONTROL_MAX 4096 /* [bytes] */

typedef struct nagaya_send {
  nagaya_process to;
  nagaya_envelope envelope; /* `source` is the caller's own rank */
  /* Nonzero: the data say where other data go (addresses, places of llcl.h), so that nobody on the
   * way between two nodes may change a byte of them (docs/security.md). Never by rendezvous. */
  uint32_t is_control;
  const void* data;
  size_t bytes;
  /* In place of `data`, or NULL: as many as `bytes` need, one behind the other in the order of the
   * message. The caller's again when the send is complete. */
  const nagaya_runs* runs;
  uint32_t is_synchronous; /* complete only when it is matched */
  uint32_t is_complete;
  uint32_t is_cancelled;                      /* it was taken back */
  int32_t error;                              /* when it is complete: 0, or why nobody gets it */
  uint32_t serial;                            /* which of the sender's messages it is */
  uint32_t answers;                           /* the library's: how many are to come */
  uint64_t handle;                            /* the library's: its name at the receiver */
  void (*complete)(struct nagaya_send* send); /* NULL: is_complete is looked at */
} nagaya_send;

/* Sends if that is possible without waiting and without a request: a message that is not long, to a
 * process that has room. `data` is the caller's again on return.
 *
 *   serial   gets what nagaya_match_cancel_send() knows the message by; may be NULL
 *
 * Returns 0, -EAGAIN (nagaya_match_send() is needed), -EINVAL (no such process, or one of this node
 * that has not opened yet), -ENOMEM, -ESRCH. */
int nagaya_match_try_send(nagaya_process to, const nagaya_envelope* envelope, const void* data,
                          size_t bytes, uint32_t* serial);

/* Starts a send. Complete when `data` is the caller's again, which may be before this returns.
 *
 * Returns 0, -EINVAL (no such process), -EMSGSIZE (control data of more than
 * NAGAYA_CONTROL_MAX bytes), -ENOBUFS, -ENOMEM, -ESRCH. A send that has to wait for room may
 * end with such an error later (`error`). */
int nagaya_match_send(nagaya_send* send);

/* Asks for a message back that may not be matched yet. It is incomplete again; complete when its
 * receiver has decided, with `is_cancelled` when nobody will receive it. For a message that was
 * sent without waiting, or not by rendezvous and is complete, `send` needs `to`, `envelope`,
 * `serial`, `complete`, and answers = 0. Not for a rendezvous that is complete: that was matched.
 *
 * Returns 0, -EALREADY (another thread is about to complete it, or has done so: nothing happens),
 * -EINVAL, -ENOMEM, -ESRCH. */
int nagaya_match_cancel_send(nagaya_send* send);

/* Messages beyond this are handed over by rendezvous, to that process.                  [bytes] */
size_t nagaya_match_eager_max(nagaya_process to);

/* ---- receiving --------------------------------------------------------------------------- */

typedef struct nagaya_receive {
  nagaya_envelope wanted; /* NAGAYA_ANY_SOURCE, NAGAYA_ANY_TAG */
  /* The process that will probably send it, or {UINT32_MAX, UINT32_MAX}. A hint: on a crowded node
   * a caller that waits keeps its processor a little longer while that process runs, too. */
  nagaya_process from;
  void* buffer;
  size_t capacity;         /* [bytes] */
  const nagaya_runs* runs; /* in place of `buffer`, or NULL: as many as `capacity` needs, ... */
  /* For a buffer that neither describes: stores the next `bytes` of the message. Called in their
   * order, for capacity bytes at most. Else NULL. */
  void (*scatter)(struct nagaya_receive* receive, const void* data, size_t bytes);
  void (*complete)(struct nagaya_receive* receive); /* NULL: is_complete is looked at */
  uint32_t is_complete;
  int32_t error; /* 0, -EMSGSIZE (the message was longer, its beginning is there), -ENOMEM (its
                    data is lost), or the error of the sender's node (-ECONNRESET, ...) */
  nagaya_envelope matched; /* of the message */
  size_t bytes;            /* its length; more than `capacity` with -EMSGSIZE */
  /* The library's. */
  nagaya_match_member member;
  uint64_t order;
} nagaya_receive;

/* Asks for a message; `wanted` must not change until the request is complete or taken back. It may
 * be complete before this returns, and without threads so may others that short messages have come
 * for. Returns 0, -ENOMEM, -ESRCH. */
int nagaya_match_receive(nagaya_receive* receive);

/* Takes the request back. Returns 0 (it will not be completed), -EALREADY (it is matched or
 * complete), -ESRCH. */
int nagaya_match_cancel_receive(nagaya_receive* receive);

/* A message that has arrived and is not yet matched. */
typedef struct nagaya_message nagaya_message;

typedef struct nagaya_message_description {
  nagaya_envelope envelope;
  size_t bytes;
} nagaya_message_description;

/* The message that a receive with this envelope would match now.
 * Returns 0, -EAGAIN (none, for all that has arrived), -ESRCH. */
int nagaya_match_probe(const nagaya_envelope* wanted, nagaya_message_description* out);

/* The same, and takes it out of the matching: it must be received by nagaya_match_receive_taken().
 * Returns as nagaya_match_probe(). */
int nagaya_match_take(const nagaya_envelope* wanted, nagaya_message_description* out,
                      nagaya_message** message);

/* Receives a message that was taken; `wanted` is not looked at. As nagaya_match_receive(). */
int nagaya_match_receive_taken(nagaya_message* message, nagaya_receive* receive);

/* Drops what has arrived of a context and is not matched, for nobody will receive it any more; not
 * what its sender still waits for and may take back. Makes progress: other requests may be complete
 * before it returns, so the caller holds no lock of their `complete`. Returns 0, -ESRCH. */
int nagaya_match_drop(uint32_t context);

/* ---- progress ---------------------------------------------------------------------------- */

/* Sees to what has arrived and to what waits to be sent; copies for others. How much there was. A
 * caller that finds nothing for long hands its processor on where others need it. -ENOMEM: messages
 * that have arrived stay where they are, and their senders wait, until there is memory. -ESRCH. */
int nagaya_match_progress(void);

/* As nagaya_llcl_wait(), for a caller who would rather know than wait on when messages wait for
 * memory. Returns 0, -ETIMEDOUT, -ENOMEM (those messages, as above; what it waits for goes on),
 * -ESRCH. */
int nagaya_match_wait(int (*is_over)(void* context), void* context, int timeout_ms);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
