/* SPDX-License-Identifier: BSD-3-Clause */
/* llcl.h - requests to the memory of every process of the job, on this node and on others.
 *
 * A process is a task of a node: (node, task). It registers memory and hands the description (plain
 * data) to whoever may use it. Others then read and write it, apply atomics to it, and call
 * handlers of its owner. On the own node a request is a plain copy by the caller, done when the
 * call returns; to another node it is a command of 64 bytes that the node's delegatee carries out.
 * Model: LLCL (Endo, Taura 2016).
 *
 *   static double halo[1024];
 *   nagaya_remote mine, *all = ...;                 // one for each process
 *   nagaya_comm_init();                             // comm.h: processes by rank
 *   nagaya_llcl_register(halo, sizeof halo, &mine);
 *   nagaya_comm_allgather(&mine, sizeof mine, all);
 *   uint32_t written = 0;
 *   nagaya_llcl_transfer put = {all[right], edge, sizeof edge, nagaya_flag(&written)};
 *   while (nagaya_llcl_try_write(&put) == -EAGAIN) sched_yield();
 *   nagaya_llcl_wait_flag(&written, -1);
 *
 * Requests: a `try_` function never blocks. 0: accepted, exactly one completion follows, possibly
 * with an error. Anything else: nothing has happened, and no completion follows:
 *   -EAGAIN            no room just now: yield, and call again
 *   -ENOBUFS, -ENOMEM  no lane for one more thread; no memory or, with a callback, no thread
 *   -EINVAL            misuse: which one says nagaya_error_text() (task.h)
 *   -ESRCH             outside of a space
 * An error that only the other node can see arrives by the completion. Local memory must stay as it
 * is until the completion.
 * Order: none between requests, nor between completions; but the accumulates and compare-and-swaps
 * of one thread to one process take effect in the order of its calls, and an atomic may be put
 * behind all earlier requests of its thread (nagaya_llcl_try_atomic_behind).
 * No polling call is needed: completions and handlers arrive while the program computes.
 * Requests to the own node work in every task; requests to other nodes work after
 * nagaya_comm_init() (comm.h).
 * Thread safety: all functions may be called from any thread at any time. Outside of a space, and
 * in a forked child of a task, all functions return -ESRCH.
 */
#ifndef NAGAYA_LLCL_H
#define NAGAYA_LLCL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "nagaya/reduction.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ---- processes and regions --------------------------------------------------------------- */

typedef struct nagaya_process {
  uint32_t node; /* 0 .. nodes-1 */
  uint32_t task; /* its number in that node's space */
} nagaya_process;

/* ---- memory ------------------------------------------------------------------------------ */

/* A place in a process's registered memory. Plain data: to be sent to other processes. */
typedef struct nagaya_remote {
  nagaya_process process;
  uint32_t region; /* the number of a region that the process has registered */
  uint32_t reserved;
  uint64_t offset; /* in the region; add to it                                        [bytes] */
} nagaya_remote;

/* Lets other processes use [base, base + bytes). Costs nothing for the own node; the memory is
 * registered with the network when the first request from another node arrives.
 *
 *   out   the place of `base`
 *
 * Returns 0, -EINVAL (no memory: NULL or 0 bytes), -ENOSPC (65536 regions on this node), -ESRCH. */
int nagaya_llcl_register(void* base, size_t bytes, nagaya_remote* out);

/* Ends a registration: later requests to the region are refused. The caller makes sure that none is
 * pending.
 * Returns 0, -EINVAL (not a region of the caller's), -ESRCH. */
int nagaya_llcl_deregister(const nagaya_remote* place);

/* Returns a pointer to `bytes` at `place` if its process lives on this node: the caller may load
 * and store there. NULL: the process is on another node, or there is no such memory. */
void* nagaya_llcl_pointer(const nagaya_remote* place, size_t bytes);

/* ---- completions ------------------------------------------------------------------------- */

enum {
  NAGAYA_NONE = 0,
  NAGAYA_FLAG = 1,    /* the flag becomes 1, or the negative errno */
  NAGAYA_COUNTER = 2, /* the counter, a uint64_t, grows by 1; after an error NAGAYA_COUNTER_FAILED
                         is set in it first, and stays */
  NAGAYA_CALLBACK = 3 /* the function runs in a thread of the requester: in the caller before the
                         call returns, or in a thread that the first such request starts */
};

/* A counter's highest bit: at least one of the requests that it has counted has failed. */
#define NAGAYA_COUNTER_FAILED (UINT64_C(1) << 63)

typedef struct nagaya_completion {
  uint32_t kind;
  void (*function)(void* data, int error); /* NAGAYA_CALLBACK */
  void* data;                              /* its argument, the flag or the counter */
} nagaya_completion;

static inline nagaya_completion nagaya_flag(uint32_t* flag) {
  nagaya_completion on = {NAGAYA_FLAG, NULL, flag};
  return on;
}
static inline nagaya_completion nagaya_counter(uint64_t* counter) {
  nagaya_completion on = {NAGAYA_COUNTER, NULL, counter};
  return on;
}
static inline nagaya_completion nagaya_callback(void (*function)(void* data, int error),
                                                void* data) {
  nagaya_completion on = {NAGAYA_CALLBACK, function, data};
  return on;
}

/* Waits until the flag is no longer 0, or the counter has reached `least`: spins, yields, sleeps.
 * Meanwhile the thread advances its task's pending work for others: messages of nagaya/match.h,
 * copies for its peers, and the libraries that nagaya_llcl_add_progress() has added.
 *
 *   timeout_ms   -1: for ever                                                   [milliseconds]
 *
 * Returns 0, the request's error (an error counted by the counter: -EIO), -ETIMEDOUT, -ESRCH. */
int nagaya_llcl_wait_flag(const uint32_t* flag, int timeout_ms);
int nagaya_llcl_wait_counter(const uint64_t* counter, uint64_t least, int timeout_ms);

/* Waits, as nagaya_llcl_wait_flag() does, until a word (below) has reached `least`. Returns 0,
 * -ETIMEDOUT, -ESRCH. */
int nagaya_llcl_wait_word(const uint64_t* word, uint64_t least, int timeout_ms);

/* Waits, as nagaya_llcl_wait_flag() does, until is_over(context) is nonzero. is_over() is called
 * often, by the calling thread only; it must not wait. It is called again at once after progress of
 * this task (progress by another thread: if messages or a team were opened with `threads`), and at
 * the latest a quarter of a second after any other event.
 *
 * Returns 0, -ETIMEDOUT, -ESRCH. */
int nagaya_llcl_wait(int (*is_over)(void* context), void* context, int timeout_ms);

/* Result of before_sleep(): the thread may sleep only shortly, because the event that it waits for
 * wakes nobody. */
#define NAGAYA_NOBODY_RINGS 0

/* The functions by which every wait of this task, also those of nagaya/match.h, advances another
 * library. All threads that wait call them, several at once if several wait; the functions must not
 * wait themselves. */
typedef struct nagaya_progress {
  /* Polls once. Returns the number of events that it has handled. */
  int (*advance)(void* context);
  /* One in `every` polls of the task calls advance(), and the last one before a sleep does in any
   * case. A power of two: the more a call costs, the greater it should be. */
  uint32_t every;
  /* Called before the last poll before a sleep. Returns the longest sleep. UINT64_MAX: every event
   * from now on comes by a message, a completion or a notification of Nagaya.  [nanoseconds] */
  uint64_t (*before_sleep)(void* context);
  void* context; /* the library's name for it */
} nagaya_progress;

/* Adds a library, whose struct is copied. Returns 0, -EINVAL (`every`), -ENOSPC (too many),
 * -ESRCH. */
int nagaya_llcl_add_progress(const nagaya_progress* progress);
/* Removes the library with this `context`. No thread may be waiting. Returns 0, -ESRCH. */
int nagaya_llcl_remove_progress(const void* context);

/* Called by a thread that takes turns with the task's one other thread: while that one is elsewhere
 * (in a call that may wait, of another library) this one makes progress in its stead, also of
 * messages and teams that were opened for one thread. It sleeps between events.
 *
 *   take        returns nonzero if the calling thread has the turn now; must not wait
 *   give_back   called soon after
 *
 * Returns when take() has returned 0: 0, -ESRCH. */
int nagaya_llcl_progress_by_turns(int (*take)(void* context), void (*give_back)(void* context),
                                  void* context);

/* ---- requests ---------------------------------------------------------------------------- */

typedef struct nagaya_llcl_transfer {
  nagaya_remote remote;
  void* local;
  size_t bytes;
  nagaya_completion on_complete;
} nagaya_llcl_transfer;

/* Copies remote memory to local memory. Complete when the data have arrived. */
int nagaya_llcl_try_read(const nagaya_llcl_transfer* transfer);
/* Copies local memory to remote memory. Complete when the remote process can see the data. */
int nagaya_llcl_try_write(const nagaya_llcl_transfer* transfer);

/* Writes as nagaya_llcl_try_write() does. When the remote process can see all of the data, 1 is
 * added to `counter`, a uint64_t in a region of the same process, and its threads that wait for the
 * counter (nagaya_llcl_wait_counter) wake. Complete after that. */
int nagaya_llcl_try_write_notify(const nagaya_llcl_transfer* transfer,
                                 const nagaya_remote* counter);

/* Memory that is not one run of bytes: equal runs, each `stride` bytes behind the one before. */
typedef struct nagaya_runs {
  void* first;
  size_t bytes, count; /* of a run, of runs: not 0 */
  ptrdiff_t stride;    /* [bytes] */
} nagaya_runs;

/* `count` blocks of `block_bytes`: a column, a face of a block, or one run of bytes (count 1). */
typedef struct nagaya_llcl_piece {
  void* local;     /* the first block */
  uint64_t offset; /* the first block, from the request's place                   [bytes] */
  uint64_t block_bytes;
  uint64_t count;
  int64_t local_stride; /* from one block to the next                                   [bytes] */
  int64_t remote_stride;
} nagaya_llcl_piece;

/* Many pieces as one request with one completion. If pieces overlap where they are written, any
 * of them wins. */
typedef struct nagaya_llcl_pieces {
  nagaya_remote remote;
  const nagaya_llcl_piece* pieces; /* must stay as they are until the completion, too */
  size_t count;
  nagaya_completion on_complete;
} nagaya_llcl_pieces;

int nagaya_llcl_try_read_pieces(const nagaya_llcl_pieces* pieces);
int nagaya_llcl_try_write_pieces(const nagaya_llcl_pieces* pieces);

/* Starts a request that is complete when all earlier requests of the calling thread to that node
 * are. It does not report their errors. */
int nagaya_llcl_try_fence(uint32_t node, nagaya_completion on_complete);

/* Starts a fence and waits until it is complete.
 *
 *   timeout_ms   -1: for ever                                                   [milliseconds]
 *
 * Returns 0, -ETIMEDOUT (the requests go on), the error that has cut off the node (-ECONNRESET,
 * ...), or as a `try_` function, but not -EAGAIN. */
int nagaya_llcl_flush(uint32_t node, int timeout_ms);

typedef enum nagaya_operation {
  NAGAYA_ADD,
  NAGAYA_SWAP,
  NAGAYA_COMPARE_SWAP,
  NAGAYA_AND,
  NAGAYA_OR,
  NAGAYA_XOR,
  NAGAYA_MIN,
  NAGAYA_MAX
} nagaya_operation;

typedef enum nagaya_type {
  NAGAYA_INT32,
  NAGAYA_INT64,
  NAGAYA_UINT32,
  NAGAYA_UINT64,
  NAGAYA_FLOAT,
  NAGAYA_DOUBLE
} nagaya_type;

typedef struct nagaya_llcl_atomic {
  nagaya_remote remote; /* aligned to the type's size */
  nagaya_operation operation;
  nagaya_type type;  /* AND, OR, XOR: integers only */
  uint64_t operand;  /* the value's bytes, lowest first */
  uint64_t expected; /* COMPARE_SWAP */
  void* before;      /* gets the word's old value; may be NULL */
  nagaya_completion on_complete;
} nagaya_llcl_atomic;

/* Applies an operation to one word, atomically against every atomic instruction of the processes of
 * that node and every request from anywhere. */
int nagaya_llcl_try_atomic(const nagaya_llcl_atomic* atomic);
/* Applies an operation as nagaya_llcl_try_atomic() does, once all earlier requests of the calling
 * thread to the same node have taken effect in the memory there: a process that sees the change
 * sees their data, too. It does not report their errors, and need not wait for their completions.
 */
int nagaya_llcl_try_atomic_behind(const nagaya_llcl_atomic* atomic);

/* ---- accumulates ------------------------------------------------------------------------- */

/* target[n] = origin[n] op target[n], for `count` elements in memory of a task of this node.
 *
 *   const int64_t one = 1;
 *   int64_t ticket;
 *   const nagaya_llcl_accumulation next = {.type = NAGAYA_ELEMENT_INT64,
 *                                          .operation = NAGAYA_REDUCE_SUM, .count = 1,
 *                                          .target = counter, .origin = &one, .result = &ticket};
 *   nagaya_llcl_accumulate(&next);
 *
 * The elements of `origin` and `result` lie side by side; so do those of `target`, or they lie in
 * `target_runs`. Elements need no alignment. origin[n], result[n] and target[n] do not overlap one
 * another, nor do the runs. */
typedef struct nagaya_llcl_accumulation {
  nagaya_element_type type;
  nagaya_reduction operation; /* defined for `type`: nagaya/reduction.h */
  size_t count;
  void* target;
  /* NULL, or as many runs as the elements fill, each of whole elements. Their addresses count from
   * `target`: first == NULL is `target` itself; with target == NULL they are addresses. */
  const nagaya_runs* target_runs;
  const void* origin; /* may be NULL with NAGAYA_REDUCE_NO_OP */
  void* result;       /* NULL, or gets the values from before */
} nagaya_llcl_accumulation;

/* Applies an operation to elements, and copies their values from before. Done when the call
 * returns: a fence (atomic_thread_fence) is all that a flush of a task of this node would be.
 *
 * Atomic for each element against all accumulates and compare-and-swaps, also those of other nodes,
 * if they name elements at equal addresses. Not atomic against elements that overlap in
 * part, loads and stores, atomic instructions, and nagaya_llcl_try_atomic(), which uses these.
 * Order: if one call happens before another one, so do their effects on each element.
 * Takes locks one at a time, each for at most 4 KiB of elements: a caller waits for others that
 * work in the same 4 KiB (or, seldom, elsewhere), spinning, then yielding, then sleeping shortly.
 * It advances no other work meanwhile. Not for signal handlers.
 * The target's task must not have been waited for. A task that dies in a call leaves any part of
 * the elements changed, and at most one of them by halves; nobody else waits for ever.
 *
 * Returns 0, -EINVAL (no such type or operation, not defined for the type; a pointer is missing; a
 * run is empty or not of whole elements), -ESRCH. After an error nothing has changed. */
int nagaya_llcl_accumulate(const nagaya_llcl_accumulation* accumulation);

/* Stores `desired` into `target` if that holds the bytes of `expected`, and in any case copies the
 * value from before to `before`. All of them have `bytes` bytes (1, 2, 4 or 8) and need no
 * alignment. Atomic and ordered as nagaya_llcl_accumulate().
 *
 * Returns 0, -EINVAL (`bytes`, a NULL), -ESRCH. */
int nagaya_llcl_compare_swap(void* target, size_t bytes, const void* expected, const void* desired,
                             void* before);

/* An accumulate on memory of any process. */
typedef struct nagaya_llcl_remote_accumulation {
  nagaya_remote remote; /* the first element */
  /* `target` is NULL: `target_runs` count from `remote`, and `first` of a run is an offset.
   * `origin`, `result` and `target_runs` must stay until the completion, this struct need not. */
  nagaya_llcl_accumulation what;
  nagaya_completion on_complete;
} nagaya_llcl_remote_accumulation;

/* Applies an operation to elements of any process, with the atomicity of nagaya_llcl_accumulate().
 * Complete when the elements have changed and the values from before are in `result`.
 *
 * Returns as a `try_` function. If only the other node can see -EINVAL (region, range), it arrives
 * by the completion; then any part of the elements may have changed. */
int nagaya_llcl_try_accumulate(const nagaya_llcl_remote_accumulation* accumulation);

typedef struct nagaya_llcl_remote_compare_swap {
  nagaya_remote remote;
  size_t bytes;                   /* 1, 2, 4 or 8 */
  const void *expected, *desired; /* read before the call returns */
  void* before;
  nagaya_completion on_complete;
} nagaya_llcl_remote_compare_swap;

/* Compares and swaps a word of any process, with the atomicity of nagaya_llcl_accumulate().
 * Complete when `before` holds the value from before. Returns as nagaya_llcl_try_accumulate(). */
int nagaya_llcl_try_compare_swap(const nagaya_llcl_remote_compare_swap* compare_swap);

/* ---- words ------------------------------------------------------------------------------- */

/* A word is an aligned uint64_t in a region. It counts the progress of its process, or of others
 * that work for it. It grows, and may wrap: it has reached every value that it is less than 2^63
 * ahead of.
 * Each change wakes the threads of its process that wait for it by nagaya_llcl_wait_word().
 *
 * These functions add to a word of any process, or set it, atomically. In the own node a process
 * that sees the change sees all that the caller has stored before. To another node there is no
 * order with the caller's other requests: see nagaya_llcl_try_write_notify(), whose counters are
 * words. */
int nagaya_llcl_try_add_word(const nagaya_remote* word, uint64_t value,
                             nagaya_completion on_complete);
int nagaya_llcl_try_set_word(const nagaya_remote* word, uint64_t value,
                             nagaya_completion on_complete);

/* ---- prepared requests ------------------------------------------------------------------- */

/* A request that is checked once and started any number of times, by any thread of the task that
 * prepared it: on the own node inline, without the library; to another node by storing a command
 * that is ready.
 *
 *   nagaya_llcl_prepared put;
 *   nagaya_llcl_prepare_write(&transfer, &put);
 *   for (;;) {
 *     compute(transfer.local);
 *     while (nagaya_llcl_try_start(&put) == -EAGAIN) sched_yield();
 *     ...
 *   }
 *
 * Each start transfers what then is in local memory, and gives its own completion. Plain data of
 * the caller's: nothing is to be freed. It must not be started once the remote memory was
 * deregistered or its process has ended, nor once the local memory or the flag is gone, nor in a
 * forked child, whose copy of the remote memory it would write: nothing checks that again. */
typedef struct nagaya_llcl_prepared {
  /* All fields belong to the library. */
  uint32_t way;
  uint32_t task; /* the remote one */
  void* to;
  const void* from;
  size_t bytes;
  uint64_t* counter;        /* to be notified, or NULL */
  const uint32_t* sleepers; /* number of threads there that may sleep for it */
  nagaya_completion on_complete;
  uint64_t command[8]; /* for another node, and an atomic's: [4] where `before` goes, [6] operand */
} nagaya_llcl_prepared;

/* Check a request, as nagaya_llcl_try_read(), _try_write(), _try_write_notify(), _try_atomic() do,
 * and store it into *out without starting it. Return 0, -EINVAL, -ESRCH. */
int nagaya_llcl_prepare_read(const nagaya_llcl_transfer* transfer, nagaya_llcl_prepared* out);
int nagaya_llcl_prepare_write(const nagaya_llcl_transfer* transfer, nagaya_llcl_prepared* out);
int nagaya_llcl_prepare_write_notify(const nagaya_llcl_transfer* transfer,
                                     const nagaya_remote* counter, nagaya_llcl_prepared* out);
int nagaya_llcl_prepare_atomic(const nagaya_llcl_atomic* atomic, nagaya_llcl_prepared* out);

enum {
  NAGAYA_LLCL_WORD, /* this node: one aligned word of 8 bytes, never seen by halves */
  NAGAYA_LLCL_COPY, /* this node */
  NAGAYA_LLCL_ADD,  /* this node: to an integer of 8 bytes */
  NAGAYA_LLCL_CALL, /* this node, but large, empty, another atomic, or with a callback */
  NAGAYA_LLCL_LANE  /* another node */
};
typedef uint64_t __attribute__((may_alias)) nagaya_llcl_word;

/* Called by nagaya_llcl_try_start() only. */
int nagaya_llcl_start_by_call(const nagaya_llcl_prepared* request);
void nagaya_llcl_notify(const nagaya_llcl_prepared* request); /* called after the copy */

static inline void nagaya_llcl_add(const nagaya_llcl_prepared* request) {
  void* const to = (void*)(uintptr_t)request->command[4];
  const uint64_t before =
      __atomic_fetch_add((nagaya_llcl_word*)request->to, request->command[6], __ATOMIC_SEQ_CST);
  if (to != NULL) memcpy(to, &before, sizeof before);
}

/* Starts a prepared request. Returns as a `try_` function. */
static inline int nagaya_llcl_try_start(const nagaya_llcl_prepared* request) {
  /* Loaded first: behind an atomic addition, loads wait for its line. */
  const nagaya_completion on_complete = request->on_complete;
  const uint64_t* const counter = request->counter;
  if (request->way == NAGAYA_LLCL_WORD)
    __atomic_store_n((nagaya_llcl_word*)request->to,
                     __atomic_load_n((const nagaya_llcl_word*)request->from, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
  else if (request->way == NAGAYA_LLCL_COPY)
    memmove(request->to, request->from, request->bytes);
  else if (request->way == NAGAYA_LLCL_ADD)
    nagaya_llcl_add(request);
  else
    return nagaya_llcl_start_by_call(request);
  if (counter != NULL) nagaya_llcl_notify(request);
  /* Release: pairs with the acquire of the thread that waits for the completion. */
  if (on_complete.kind == NAGAYA_FLAG)
    __atomic_store_n((uint32_t*)on_complete.data, 1, __ATOMIC_RELEASE);
  else if (on_complete.kind == NAGAYA_COUNTER)
    __atomic_fetch_add((uint64_t*)on_complete.data, 1, __ATOMIC_RELEASE);
  return 0;
}

/* ---- active messages --------------------------------------------------------------------- */

/* A handler of active messages. It runs in a thread of its task that nagaya_llcl_handle() starts:
 * one handler at a time. `data` is valid until it returns.
 *
 *   static void on_request(void* context, nagaya_process source, const void* data, size_t bytes) {
 *     struct answer answer = look_up(context, data, bytes);
 *     nagaya_llcl_try_message(source, REPLY, &answer, sizeof answer, (nagaya_completion){0});
 *   }
 *
 * A request of a handler, or of a callback in that thread, is never refused for want of room, so
 * handlers may answer while all tasks flood all others: without room the library keeps the request
 * in the memory of this task (-ENOMEM: it cannot), and makes it later, in the order in which
 * handlers have made such requests. Its completion comes then. (`answer` above ends with the
 * handler's stack: to another node it may have at most 32 bytes, which are copied at once; longer
 * data must stay where they are until the completion.) While a task keeps more than 1,024 requests
 * or 4 MiB, threads of its node get -EAGAIN when they send to it, unless they run handlers. A
 * handler must not wait for a message, nor for a thread of its task that sends some. */
typedef void nagaya_handler(void* context, nagaya_process source, const void* data, size_t bytes);

/* Registers `function` as handler `number` (0 .. 255) of this task. Returns 0, -EINVAL, -EEXIST,
 * -ENOMEM (no thread can be started just now), -ESRCH. */
int nagaya_llcl_handle(uint32_t number, nagaya_handler* function, void* context);

/* The longest active message.                                                             [bytes]
 */
#define NAGAYA_LLCL_MESSAGE_MAX (16u << 20)

/* Calls handler `number` of a process with a copy of `bytes` at `data`; complete when it has been
 * handed over (the memory is free again), not when it has run. Handlers are called in the order in
 * which one thread has sent. Without such a handler the completion has the error -ENOENT; or, if
 * the task has other handlers or callbacks, the message is dropped, and the receiver prints one
 * line for each such number on its stderr. Returns -EMSGSIZE if `bytes` exceed
 * NAGAYA_LLCL_MESSAGE_MAX. */
int nagaya_llcl_try_message(nagaya_process to, uint32_t number, const void* data, size_t bytes,
                            nagaya_completion on_complete);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
