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
 *   nagaya_comm_init();                             // comm.h: who is where
 *   nagaya_llcl_register(halo, sizeof halo, &mine);
 *   nagaya_comm_allgather(&mine, sizeof mine, all);
 *   uint32_t written = 0;
 *   nagaya_llcl_transfer put = {all[right], edge, sizeof edge, nagaya_flag(&written)};
 *   while (nagaya_llcl_try_write(&put) == -EAGAIN) continue;
 *   nagaya_llcl_wait_flag(&written, -1);
 *
 * Requests: a `try_` function never blocks. 0: accepted, exactly one completion follows, possibly
 * with an error. -EAGAIN: no room just now, nothing has happened. Anything else: misuse (a wrong
 * process, region, range, handler), nothing has happened. An error that only the other node can see
 * arrives by the completion. Local memory must stay as it is until the completion.
 * Order: none between requests, nor between completions.
 * No polling call is needed: completions and handlers arrive while the program computes.
 * Requests to the own node work in every task; those to others once the job is wired up (comm.h).
 * Thread safety: all functions may be called from any thread at any time. Outside of a space all
 * answer -ESRCH.
 */
#ifndef NAGAYA_LLCL_H
#define NAGAYA_LLCL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* ---- who is there ------------------------------------------------------------------------ */

typedef struct nagaya_process {
  uint32_t node; /* 0 .. nodes-1 */
  uint32_t task; /* its number in that node's space */
} nagaya_process;

/* ---- memory ------------------------------------------------------------------------------ */

/* A place in a process's registered memory. Plain data: to be sent to other processes. */
typedef struct nagaya_remote {
  nagaya_process process;
  uint32_t region; /* of that process, as registered */
  uint32_t reserved;
  uint64_t offset; /* in the region; add to it                                        [bytes] */
} nagaya_remote;

/* Lets others use [base, base + bytes). Free for the own node; what other networks ask for is done
 * when the first request from there comes.
 *
 *   out   the place of `base`
 *
 * Returns 0, -EINVAL (no memory: NULL or 0 bytes), -ENOSPC (65536 regions on this node), -ESRCH. */
int nagaya_llcl_register(void* base, size_t bytes, nagaya_remote* out);

/* Ends that: later requests to the region are refused. The caller knows that none is under way.
 * Returns 0, -EINVAL (not a region of the caller's), -ESRCH. */
int nagaya_llcl_deregister(const nagaya_remote* place);

/* The plain pointer to `bytes` at `place` when its process lives on this node: load and store
 * there. NULL: on another node, or no such memory. */
void* nagaya_llcl_pointer(const nagaya_remote* place, size_t bytes);

/* ---- completions ------------------------------------------------------------------------- */

enum {
  NAGAYA_NONE = 0,
  NAGAYA_FLAG = 1,    /* the flag becomes 1, or the negative errno */
  NAGAYA_COUNTER = 2, /* the counter grows by 1, or by 1 << 32 for an error */
  NAGAYA_CALLBACK = 3 /* the function runs in a thread of the requester: in the caller before the
                         call returns, or in a thread that the first such request starts */
};

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
 *
 *   timeout_ms   -1: for ever                                                   [milliseconds]
 *
 * Returns 0, the request's error (an error counted by the counter: -EIO), -ETIMEDOUT, -ESRCH. */
int nagaya_llcl_wait_flag(const uint32_t* flag, int timeout_ms);
int nagaya_llcl_wait_counter(const uint64_t* counter, uint32_t least, int timeout_ms);

/* ---- requests ---------------------------------------------------------------------------- */

typedef struct nagaya_llcl_transfer {
  nagaya_remote remote;
  void* local;
  size_t bytes;
  nagaya_completion on_complete;
} nagaya_llcl_transfer;

/* Remote memory to local memory; complete when it is there. */
int nagaya_llcl_try_read(const nagaya_llcl_transfer* transfer);
/* Local memory to remote memory; complete when it is visible to the remote process. */
int nagaya_llcl_try_write(const nagaya_llcl_transfer* transfer);

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
  void* before;      /* gets the value from before; may be NULL */
  nagaya_completion on_complete;
} nagaya_llcl_atomic;

/* Applies an operation to one word, atomically against every atomic instruction of the processes of
 * that node and every request from anywhere. */
int nagaya_llcl_try_atomic(const nagaya_llcl_atomic* atomic);

/* ---- active messages --------------------------------------------------------------------- */

/* Runs in a thread of its task that nagaya_llcl_handle() starts. `data` is the handler's until it
 * returns. It may make requests, but must not wait for a message's handler. */
typedef void nagaya_handler(void* context, nagaya_process source, const void* data, size_t bytes);

/* Names handler `number` (0 .. 255) of this task. Returns 0, -EINVAL, -EEXIST, -ESRCH. */
int nagaya_llcl_handle(uint32_t number, nagaya_handler* function, void* context);

/* Calls handler `number` of a process with a copy of `bytes` at `data`; complete when it has been
 * handed over (the memory is free again), not when it has run. Handlers are called in the order in
 * which one thread has sent. No such handler: the completion says -ENOENT, or, once handed over,
 * the message is dropped and counted. */
int nagaya_llcl_try_message(nagaya_process to, uint32_t number, const void* data, size_t bytes,
                            nagaya_completion on_complete);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
