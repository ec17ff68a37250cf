/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h - one-sided access to memory of the processes of a set: to a process of the caller's
 * node by loads, stores, atomic instructions and copies of the caller, to others by requests
 * (llcl.h). The target's process does nothing.
 *
 *   nagaya_window* window;
 *   nagaya_window_memory own = {.kind = NAGAYA_WINDOW_ALLOCATE, .bytes = 8 * n, .unit = 8};
 *   nagaya_window_open(context, members, &own, 0, &window);          // of processes.h
 *   nagaya_window_lock(window, NAGAYA_WINDOW_EXCLUSIVE, right, 0);
 *   nagaya_window_buffer from = {.first = &value, .bytes = 8};
 *   nagaya_window_target to = {.rank = right, .displacement = 3, .place = {.bytes = 8}};
 *   nagaya_window_put(window, &from, &to);
 *   nagaya_window_unlock(window, right);
 *   nagaya_window_close(window);
 *
 * Epochs: a process may access the memory of a target while it has an epoch for it. Between two
 * accesses of different processes to one place lies a synchronisation, as MPI wants it (MPI 4.1,
 * 12.5 and 12.7):
 *
 *   fence                            all members together: an epoch for every target, to the next
 *                                    fence
 *   start, complete (post, wait)     an epoch for the targets of a list, which have posted
 *   lock, unlock                     an epoch for one target, alone or shared
 *   lock_all, unlock_all             an epoch for every target, shared
 *
 * Completion: in a node, put, get and accumulate are complete when the call returns, at the origin
 * and at the target. To another node they go on, and are complete after a flush, or after the call
 * that ends the epoch: until then the caller's memory of the access stays as it is. A target sees
 * the data after the next synchronisation of both, or after the origin's flush and the target's
 * sync.
 * Order: the accumulates of one process to one target happen in the order of its calls. Elements of
 * accumulate, get_accumulate, fetch_and_op and compare_and_swap are read and written atomically
 * against each other, whatever their types and operations, if they begin at equal addresses.
 *
 * Errors: negative errno codes.
 *   -EINVAL   an argument: a rank, a kind, a type, an operation, an unequal number of bytes
 *   -ERANGE   the target's window, or its attached memory, does not contain the place
 *   -EPROTO   no epoch is open for this target, or none that this call could end; or a target is
 *             locked already
 *   -EBUSY    an epoch is open beside which the new one must not exist; an open epoch forbids to
 *             close the window
 *   -EEXIST, -ENOENT   attach: some of the memory is attached already; detach: it is not attached
 *   -EIO      of a call that completes accesses to another node: one of them has failed
 *   -ECONNRESET, -EHOSTUNREACH, -EPROTO and the like of llcl.h: a node is lost
 *   -ESRCH    outside of a space, or in a forked child
 * After another error than those of lost nodes nothing has changed.
 *
 * Waiting: every wait is one of llcl.h: it advances the task's other pending work, and sleeps.
 * (Accumulates wait for others in the same 4 KiB, and accesses to a dynamic window for an attach or
 * detach of its target, without that: shortly.)
 * Thread safety: any thread of a member may call any function at any time, except that a window has
 * one fence, post, start, complete or wait of a member at a time, and nothing else during its
 * closing. An epoch belongs to the process: any thread may use it or end it.
 * Death of a member: its job ends (docs/window.md).
 * Several nodes: match.h must be open.
 * Memory: 192 bytes of the space heap for each member of a window (from 321 members on 64 more for
 * each further 512), rounded up to a power of two for the window: 10,000 windows of 16 members take
 * 40 MiB. In every task about 300 bytes, and one byte for each member; over several nodes 56 bytes
 * for each, a team (coll.h), and two of the node's regions (llcl.h).
 */
#ifndef NAGAYA_WINDOW_H
#define NAGAYA_WINDOW_H

#include <nagaya/processes.h>
#include <nagaya/reduction.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct nagaya_window nagaya_window;

/* ---- making ------------------------------------------------------------------------------ */

typedef enum nagaya_window_kind {
  NAGAYA_WINDOW_CREATE,     /* over `base`, memory of the caller */
  NAGAYA_WINDOW_ALLOCATE,   /* over new memory of the caller's own */
  NAGAYA_WINDOW_CONTIGUOUS, /* over new memory: each rank's begins where that of the rank before
                               ends */
  NAGAYA_WINDOW_DYNAMIC     /* over what members attach later: a displacement is an address */
} nagaya_window_kind;

typedef struct nagaya_window_memory {
  nagaya_window_kind kind; /* the same at all members */
  void* base;       /* CREATE: it lies in the space, as all memory of a task does; may be NULL
                       with 0 bytes. Otherwise ignored */
  size_t bytes;     /* of this member; may be 0. DYNAMIC: ignored */
  size_t unit;      /* of displacements to this member, not 0                  [bytes] */
  size_t alignment; /* ALLOCATE, CONTIGUOUS: of the first byte, a power of two of at most
                       2 MiB; 0: 64. CONTIGUOUS: of rank 0's                   [bytes] */
  int error;        /* 0; or the negative errno with which all members' opening is to fail,
                       because this member cannot take part */
} nagaya_window_memory;

/* Makes a window. Collective: all members call it, and each waits for all. If any member fails, all
 * return the error of the lowest rank that has one.
 *
 *   context   below 2^56; over several nodes below NAGAYA_TEAMS_WINDOWS (coll.h). Windows that
 *             exist at once and have members in common have different ones. Teams may have equal
 *             contexts. A context may be used again when all members have returned from the
 *             closing, or from the opening that failed
 *   members   the set may be closed on return
 *   threads   nonzero: several threads of the task may call functions of this window, or wait for
 *             anything else
 *
 * New memory is zero. From 4 MiB on it is untouched: its pages lie near the thread that uses them
 * first, and its size costs nothing. It stays until the window is closed.
 *
 * Returns 0, -EINVAL, -ENOMEM, -ENOSPC (llcl.h: regions), -ESRCH; -EOPNOTSUPP: CONTIGUOUS, and a
 * member is on another node. A member that passes a NULL, too large a context or a set without
 * itself gets -EINVAL alone, and the others wait for it; likewise -ENOMEM if the space heap has no
 * room for this member but had for others. */
int nagaya_window_open(uint64_t context, const nagaya_processes* members,
                       const nagaya_window_memory* own, int threads, nagaya_window** out);

/* Closes a window and frees its memory. Collective: each member waits until all have called it.
 * Returns 0, -EINVAL (NULL), -EBUSY (the caller has an epoch of start, post, lock or lock_all open:
 * nothing has happened); -EIO: an access, a post, a complete or an unlock has not reached another
 * node (the window is closed). */
int nagaya_window_close(nagaya_window* window);
/* Returns 1 if nagaya_window_close() would return -EBUSY, else 0; -EINVAL, -ESRCH. Local. */
int nagaya_window_has_epoch(const nagaya_window* window);

typedef struct nagaya_window_part {
  void* base; /* loads and stores of the caller may go there; DYNAMIC, or on another node: NULL */
  size_t bytes;
  size_t unit;
} nagaya_window_part;

/* Stores where the memory of a member lies. Local. Returns 0, -EINVAL, -ESRCH. */
int nagaya_window_part_of(const nagaya_window* window, uint32_t rank, nagaya_window_part* out);

/* DYNAMIC: the caller lets the members use `bytes` (may be 0) at `base`, and ends that. Local.
 * Others may use the memory after a synchronisation. `base` of a detach is that of an attach.
 * An access to a target on another node lies in one attachment.
 * Return 0, -EINVAL (another kind of window), -EEXIST, -ENOENT, -ENOMEM, -ENOSPC (llcl.h: regions),
 * -ESRCH. */
int nagaya_window_attach(nagaya_window* window, void* base, size_t bytes);
int nagaya_window_detach(nagaya_window* window, const void* base);

/* ---- access ------------------------------------------------------------------------------ */

/* Bytes in one run or many, in the order of the message. In the caller's memory, or at a target:
 * there `first` is no address but an offset, which may be negative, from the displacement. */
typedef struct nagaya_window_buffer {
  void* first;  /* of one run; ignored with `runs` */
  size_t bytes; /* in total */
  /* NULL: one run. Otherwise `groups` of them, with `bytes` bytes together, in place of `first`;
   * none of them is empty. */
  const nagaya_runs* runs;
  size_t groups;
} nagaya_window_buffer;

typedef struct nagaya_window_target {
  uint32_t rank;
  uint64_t displacement;      /* in units of the target; DYNAMIC: an address in its memory */
  nagaya_window_buffer place; /* from there on; `first` is an offset              [bytes] */
} nagaya_window_target;

/* Copy the bytes of one side to the other, which has equally many. If both overlap, the result is
 * undefined. Return 0, -EINVAL, -ERANGE, -EPROTO, -ESRCH. */
int nagaya_window_put(nagaya_window* window, const nagaya_window_buffer* from,
                      const nagaya_window_target* to);
int nagaya_window_get(nagaya_window* window, const nagaya_window_buffer* to,
                      const nagaya_window_target* from);

/* Elements of `type`, `operation`: target = target operation origin, element by element; REPLACE
 * stores the origin's, NO_OP changes nothing (`from` may be NULL). Each run of both sides holds
 * whole elements, as C lays them out: pairs have their gaps, which are neither read nor written.
 * Elements need no alignment.
 * Return 0, -EINVAL, -ERANGE, -EPROTO, -ENOMEM (a side of runs has no room to be packed), -ESRCH.
 */
int nagaya_window_accumulate(nagaya_window* window, const nagaya_window_buffer* from,
                             const nagaya_window_target* to, nagaya_element_type type,
                             nagaya_reduction operation);
/* Accumulates, and `result` gets the target's elements from before. */
int nagaya_window_get_accumulate(nagaya_window* window, const nagaya_window_buffer* from,
                                 const nagaya_window_buffer* result, const nagaya_window_target* to,
                                 nagaya_element_type type, nagaya_reduction operation);

/* Accumulates one element; `result` gets the element from before. NO_OP: `operand` may be NULL. */
int nagaya_window_fetch_and_op(nagaya_window* window, const void* operand, void* result,
                               uint32_t rank, uint64_t displacement, nagaya_element_type type,
                               nagaya_reduction operation);
/* If the element equals `expected`, byte by byte, it becomes `desired`. `result` gets the element
 * from before. `type`: integers, LOGICAL, BOOL, BYTE; else -EINVAL. */
int nagaya_window_compare_and_swap(nagaya_window* window, const void* desired, const void* expected,
                                   void* result, uint32_t rank, uint64_t displacement,
                                   nagaya_element_type type);

/* ---- synchronisation --------------------------------------------------------------------- */

/* Assertions of the caller, which save work. */
enum {
  NAGAYA_WINDOW_NO_PRECEDE = 1, /* fence: it ends no epoch, at any member (all say so). With
                                   NO_SUCCEED nobody waits */
  NAGAYA_WINDOW_NO_SUCCEED = 2, /* fence: it begins no epoch (all say so) */
  NAGAYA_WINDOW_NO_CHECK = 4    /* lock, lock_all: nobody has a lock that excludes this one;
                                   post and start (both say so): the posts come before the start */
};

/* Ends the epoch of the last fence, and begins one for every target. Collective. All members see
 * all that others have stored before, unless nobody waits. Returns 0, -EINVAL, -EBUSY (an epoch of
 * start or lock is open at the caller), -ESRCH. */
int nagaya_window_fence(nagaya_window* window, uint32_t assertions);

/* Post: the caller's memory may be accessed by the members in the list; waits for nobody. Wait ends
 * that: it waits until they have called complete; test does not wait: it returns 1 if it has ended
 * the exposure, or 0.
 * Start: begins an epoch for the members in the list; waits until they have posted. Complete ends
 * the epoch. No rank is in a list twice; a list may be empty.
 * Return 0, -EINVAL, -EBUSY (post: the caller is posted already; start: another epoch is open),
 * -EPROTO (complete, wait, test without a start, a post), -ESRCH. */
int nagaya_window_post(nagaya_window* window, const uint32_t* ranks, uint32_t count,
                       uint32_t assertions);
int nagaya_window_wait(nagaya_window* window);
int nagaya_window_test(nagaya_window* window);
int nagaya_window_start(nagaya_window* window, const uint32_t* ranks, uint32_t count,
                        uint32_t assertions);
int nagaya_window_complete(nagaya_window* window);

typedef enum nagaya_window_lock_kind {
  NAGAYA_WINDOW_SHARED,
  NAGAYA_WINDOW_EXCLUSIVE
} nagaya_window_lock_kind;

/* Lock and unlock one target, or all. Locks of one target are granted in the order of the requests;
 * once lock_all was called, an exclusive lock's request for its target comes when its turn beside
 * lock_all has come. lock_all and exclusive locks take turns in the order of the requests, but a
 * process that has a lock of the window already takes no turn. So a shared lock waits for exclusive
 * requests before it: processes that hold locks while they request others must not wait for each
 * other in a circle, with such requests counted. Return 0, -EINVAL, -EBUSY (another
 * epoch is open), -EPROTO (the caller has locked the target already; or, of unlock: has not),
 * -ESRCH.
 */
int nagaya_window_lock(nagaya_window* window, nagaya_window_lock_kind kind, uint32_t rank,
                       uint32_t assertions);
int nagaya_window_unlock(nagaya_window* window, uint32_t rank);
/* Locks a target exclusively if that is possible without waiting for others. Returns as
 * nagaya_window_lock(); -EAGAIN: somebody else has the lock, or waits for it; nothing has changed.
 */
int nagaya_window_try_lock(nagaya_window* window, uint32_t rank);
/* Returns 1 if somebody has the lock of a target or waits for it, 0 if nobody, or -EINVAL, -ESRCH.
 */
int nagaya_window_is_locked(nagaya_window* window, uint32_t rank);
int nagaya_window_lock_all(nagaya_window* window, uint32_t assertions);
int nagaya_window_unlock_all(nagaya_window* window);

/* The caller's accesses to a target, or to all, come before its later ones, and before what other
 * members do after they have learnt of this call. They serve as flush_local, too. Return 0,
 * -EINVAL, -EPROTO (no epoch of lock or lock_all), -ESRCH. */
int nagaya_window_flush(nagaya_window* window, uint32_t rank);
int nagaya_window_flush_all(nagaya_window* window);
/* Orders the caller's loads and stores in its own memory with the accesses of others. Returns 0,
 * -EINVAL (NULL), -ESRCH. */
int nagaya_window_sync(nagaya_window* window);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
