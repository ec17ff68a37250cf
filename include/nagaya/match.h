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
 * The processes are those of this node. After nagaya_comm_init() (comm.h) they are those of all
 * nodes; a program that calls it does so before any of these functions. Messages of this node and
 * of other nodes are matched together, in the order of their arrival.
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

/* Opens the messages of this task, with the settings of the environment (NAGAYA_EAGER_BYTES). One
 * thread calls it before any other function here. Messages that arrived before are kept. In a job
 * that keeps the memory of ended tasks (`nagaya run`; `keep_ended` of task.h) messages outlive
 * their senders. One library of a process at a time may have it open, because it assigns the
 * contexts below 2^30: an MPI, say, from MPI_Init() to MPI_Finalize(). Nagaya's own libraries use
 * the contexts above.
 *
 *   threads   nonzero: several threads may call from then on, at once or by turns
 *
 * Returns 0, -EINVAL (NAGAYA_EAGER_BYTES is no number of 0 .. 1048576; NAGAYA_TUNING names a file
 * that is no tuning table, or not the table that other tasks of the space have), -EBUSY (another
 * library of this process has it open, or it was opened for one thread before), -ENOMEM, -ESRCH. */
int nagaya_match_open(int threads);

/* Called by the library that has opened the messages, when none of its requests is left: another
 * library may open them. The task still takes messages out of its port. Returns 0, -ESRCH. */
int nagaya_match_close(void);

/* libnagaya-blacs, area.h, array.h and coll.h use the contexts from these on, Python's package
 * nagaya one and the one below; MPI uses the contexts below them. */
#define NAGAYA_CONTEXTS_BLACS UINT32_C(0x40000000)
#define NAGAYA_CONTEXTS_AREAS UINT32_C(0x60000000)
#define NAGAYA_CONTEXT_PYTHON UINT32_C(0x6ffffffe)
#define NAGAYA_CONTEXT_POSTS UINT32_C(0x6fffffff) /* of libnagaya-xmp: one alone */
#define NAGAYA_CONTEXTS_ARRAYS UINT32_C(0x70000000)
#define NAGAYA_CONTEXTS_COLL UINT32_C(0x80000000)

/* Opens the messages for one of Nagaya's own libraries, whose contexts differ from each other's:
 * works whether another library has them open or not. They stay open until the task ends. Returns
 * 0, -EINVAL, -EBUSY (they were opened for one thread before), -ENOMEM, -ESRCH. */
int nagaya_match_join(int threads);

/* Returns the calling process, to which others send. {UINT32_MAX, UINT32_MAX} before
 * nagaya_match_open(). */
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
  /* In place of `data`, or NULL: an array of as many runs as `bytes` need, in the order of the
   * message. It must stay until the send is complete. */
  const nagaya_runs* runs;
  uint32_t is_synchronous; /* complete only when it is matched */
  uint32_t is_complete;
  uint32_t is_cancelled;                      /* it was cancelled: nobody will receive it */
  int32_t error;                              /* when it is complete: 0, or why nobody gets it */
  uint32_t serial;                            /* the sequence number among the sender's messages */
  uint32_t answers;                           /* the library's: number of pending answers */
  uint64_t handle;                            /* the library's: identifies it at the receiver */
  void (*complete)(struct nagaya_send* send); /* NULL: the caller polls is_complete */
} nagaya_send;

/* Sends if that is possible without waiting and without a request: a message that is not long, to a
 * process that has room. `data` is the caller's again on return.
 *
 *   runs     in place of `data`, as in nagaya_send, or NULL
 *   serial   gets the sequence number that nagaya_match_cancel_send() needs; may be NULL
 *
 * Returns 0, -EAGAIN (nagaya_match_send() is needed), -EINVAL (no such process, or one of this node
 * that has not opened yet), -ENOMEM, -ESRCH. */
int nagaya_match_try_send(nagaya_process to, const nagaya_envelope* envelope, const void* data,
                          size_t bytes, const nagaya_runs* runs, uint32_t* serial);

/* Starts a send. Complete when `data` is the caller's again, which may be before this returns.
 *
 * Returns 0, -EINVAL (no such process), -EMSGSIZE (control data of more than
 * NAGAYA_CONTROL_MAX bytes), -ENOBUFS, -ENOMEM, -ESRCH. A send that has to wait for room may
 * end with such an error later (`error`). */
int nagaya_match_send(nagaya_send* send);

/* Asks the receiver to cancel a message that may not be matched yet. The send becomes incomplete,
 * and complete when the receiver has answered, with `is_cancelled` if nobody will receive it. For a
 * message of nagaya_match_try_send(), or a complete one that was not sent by rendezvous, `send`
 * needs `to`, `envelope`, `serial`, `complete`, and answers = 0. Not to be called for a complete
 * rendezvous: it was matched.
 *
 * Returns 0, -EALREADY (another thread is about to complete it, or has done so: nothing happens),
 * -EINVAL, -ENOMEM, -ESRCH. */
int nagaya_match_cancel_send(nagaya_send* send);

/* Returns the longest message that is handed over to that process at once; longer ones go by
 * rendezvous.                                                                           [bytes] */
size_t nagaya_match_eager_max(nagaya_process to);

/* ---- receiving --------------------------------------------------------------------------- */

typedef struct nagaya_receive {
  nagaya_envelope wanted; /* NAGAYA_ANY_SOURCE, NAGAYA_ANY_TAG */
  /* The process that will probably send it, or {UINT32_MAX, UINT32_MAX}. A hint: on a crowded node
   * a caller that waits keeps its processor a little longer while that process runs, too. */
  nagaya_process from;
  void* buffer;
  size_t capacity;         /* [bytes] */
  const nagaya_runs* runs; /* in place of `buffer`, or NULL: as many as `capacity` needs */
  /* For memory that neither `buffer` nor `runs` describes: stores the next `bytes` of the message.
   * Called in the order of the bytes, for `capacity` bytes at most. Else NULL. */
  void (*scatter)(struct nagaya_receive* receive, const void* data, size_t bytes);
  void (*complete)(struct nagaya_receive* receive); /* NULL: the caller polls is_complete */
  uint32_t is_complete;
  int32_t error; /* 0, -EMSGSIZE (the message was longer, its beginning is there), -ENOMEM (its
                    data is lost), or the error of the sender's node (-ECONNRESET, ...) */
  nagaya_envelope matched; /* of the message */
  size_t bytes;            /* its length; more than `capacity` with -EMSGSIZE */
  /* The next fields belong to the library. */
  nagaya_match_member member;
  uint64_t order;
} nagaya_receive;

/* Starts a receive; `wanted` must not change until it is complete or cancelled. It may be complete
 * before the call returns. Without threads the call may also complete other receives for which
 * short messages have arrived. Returns 0, -ENOMEM, -ESRCH. */
int nagaya_match_receive(nagaya_receive* receive);

/* Cancels a receive. Returns 0 (it will not be completed), -EALREADY (it is matched or complete),
 * -ESRCH. */
int nagaya_match_cancel_receive(nagaya_receive* receive);

/* A message that has arrived and is not yet matched. */
typedef struct nagaya_message nagaya_message;

typedef struct nagaya_message_description {
  nagaya_envelope envelope;
  size_t bytes;
} nagaya_message_description;

/* Describes in *out the message that a receive with this envelope would match now.
 * Returns 0, -EAGAIN (none, for all that has arrived), -ESRCH. */
int nagaya_match_probe(const nagaya_envelope* wanted, nagaya_message_description* out);

/* Probes, and takes the message out of the matching: the caller must receive it by
 * nagaya_match_receive_taken(). Returns as nagaya_match_probe(). */
int nagaya_match_take(const nagaya_envelope* wanted, nagaya_message_description* out,
                      nagaya_message** message);

/* Receives a message of nagaya_match_take(), whatever `wanted` says. Returns as
 * nagaya_match_receive(). */
int nagaya_match_receive_taken(nagaya_message* message, nagaya_receive* receive);

/* Drops the messages of a context that have arrived and are not matched, because nobody will
 * receive them; it keeps messages whose sender still waits for them and may cancel them. It makes
 * progress: other requests may be complete before it returns, so the caller holds no lock that
 * their `complete` takes. Returns 0, -ESRCH. */
int nagaya_match_drop(uint32_t context);

/* ---- progress ---------------------------------------------------------------------------- */

/* Handles arrived messages, advances messages that wait to be sent, and copies for other tasks.
 * Returns the number of events that it has handled; -ENOMEM: arrived messages stay where they are,
 * and their senders wait, until there is memory; -ESRCH. If a caller finds nothing for long, it
 * yields its processor where others need it. */
int nagaya_match_progress(void);

/* Waits as nagaya_llcl_wait() does, but returns -ENOMEM if arrived messages wait for memory (see
 * nagaya_match_progress(); the caller's requests stay pending). Returns 0, -ETIMEDOUT, -ENOMEM,
 * -ESRCH. */
int nagaya_match_wait(int (*is_over)(void* context), void* context, int timeout_ms);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
