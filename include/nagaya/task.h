/* SPDX-License-Identifier: BSD-3-Clause */
/* task.h - processes that live in one address space.
 *
 * A space is one address space of one job on one node. A task is a process that lives in it: it
 * has its own variables, libc, pid, descriptors, directory and signal handlers, but every task of
 * the space can load and store the memory of every other through a plain pointer. A host process
 * owns the space; it starts and reaps the tasks. Model: PVAS (Shimada, Hori, Ishikawa 2015).
 *
 * Two kinds of callers:
 *   a creator   any process: makes a space, starts programs as tasks, waits for them;
 *   a task      a process that lives in a space: asks for its own number, publishes addresses,
 *               looks up those of other tasks, allocates from the space heap.
 * A task may also be a creator, of further tasks in its own space (nagaya_space_current) or of
 * other spaces.
 *
 *   nagaya_space *space;                            // creator
 *   nagaya_space_create(NULL, &space);
 *   for (int n = 0; n < 4; ++n)
 *     nagaya_task_spawn(space, &(nagaya_task_program){.path = "./worker"}, NULL);
 *   for (int n = 0; n < 4; ++n) nagaya_task_wait(space, n, NULL, -1);
 *   nagaya_space_destroy(space);
 *
 *   static double halo[1024];                       // task
 *   nagaya_task_publish("halo", halo);
 *   const double *left;
 *   nagaya_task_lookup(nagaya_task_self() - 1, "halo", 1000, (void **)&left);
 *   use(left[0]);                                   // the neighbour's memory, by plain load
 *
 * Errors: functions that return int return 0 or a positive result on success and a negative errno
 * code on failure; nagaya_strerror() names the code, nagaya_error_text() says in one line what
 * happened and what to do.
 * Forked children: a child that a task forks is no task. It has a copy of the space, and every
 * function of Nagaya that would act for a task answers -ESRCH there (NULL, 0 or nothing where it
 * returns no int), also in an exit handler of the child. Functions that only compute answer as
 * ever. A child by vfork(2) shares the memory of its parent, and must not call any. Thread safety:
 * all functions may be called from any thread at any time, except that calls with the same
 * nagaya_space are serialised inside, so a wait delays a spawn from another thread. Every rank of a
 * job can overwrite every other: a stray store is a fault across tasks.
 */
#ifndef NAGAYA_TASK_H
#define NAGAYA_TASK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The entry of the auxiliary vector by which a task finds its space: getauxval(AT_NAGAYA) is 0
 * outside. (An environment variable would survive an exec that leaves the space.) */
#define AT_NAGAYA 0x4e4147

typedef struct nagaya_space nagaya_space; /* a creator's handle */

/* ---- creators ---------------------------------------------------------------------------- */

typedef struct nagaya_space_options {
  size_t size;       /* sizeof(nagaya_space_options): newer fields read as 0 */
  unsigned tasks;    /* how many tasks the job will have; 0: not known in advance.
                        nagaya_task_count() answers this. */
  unsigned capacity; /* most tasks alive at once, up to 4096; 0: twice `tasks`, at least 192.
                        The more, the less address space each has: 256 GiB up to 263, 64 GiB up to
                        1,053, then 16 GiB. */
  int keep_ended;    /* nonzero: memory of ended tasks stays until the space is destroyed, so that
                        tasks may still use each other's memory when one of them ends first;
                        their numbers are not used again */
} nagaya_space_options;

/* Makes a space, with a host process of its own, which is no child of the caller (wait() does not
 * see it) and ends with nagaya_space_destroy() or with the caller.
 *
 *   options  NULL: all defaults
 *   out      the handle, owned by the caller
 *
 * Returns 0, -EINVAL (capacity out of range), -ENOENT (nagaya-host is not installed beside the
 * library), or an error of the system. */
int nagaya_space_create(const nagaya_space_options* options, nagaya_space** out);

/* Makes a handle on the space that the calling task lives in, to spawn further tasks there.
 * Returns 0, or -ESRCH when the caller is not a task. */
int nagaya_space_current(nagaya_space** out);

/* Kills the tasks spawned through this handle that are still alive (SIGKILL), and frees all that
 * they left, and the handle. For a handle of nagaya_space_create(), the host has ended when this
 * returns. `space` may be NULL. A forked child has a copy of the handle: the call frees only the
 * copy, and other functions return -ESRCH for it. */
void nagaya_space_destroy(nagaya_space* space);

/* A program to run, and its surroundings. Everything that is NULL or 0 is taken from the caller. */
typedef struct nagaya_task_program {
  const char* path;       /* searched in PATH when it has no slash; a position-independent ELF
                             program, a script, or Python */
  char* const* argv;      /* NULL-terminated; NULL: {path} */
  char* const* envp;      /* NULL-terminated; NULL: the caller's environment */
  const char* directory;  /* working directory; NULL: the caller's */
  const int* descriptors; /* the caller's descriptor for each of the task's 0, 1, 2, ...;
                             -1 leaves a number closed. NULL: all that are not close-on-exec */
  size_t descriptor_count;
  const void* cpu_set; /* processors, as of sched_setaffinity(2); NULL: the caller's */
  size_t cpu_set_bytes;
  int number; /* the task number wanted, plus 1; 0, or one that is taken: the lowest free */
} nagaya_task_program;

/* Starts a program as a task.
 *
 *   pid   where to store its process id; may be NULL
 *
 * Returns the task's number (0 .. capacity-1), -ENOENT (no such program), -ENOEXEC (cannot be a
 * task: the text says why), -EACCES, -EAGAIN (the space is full), -EPIPE (the host has died).
 * The number stays taken until the task has been waited for. A failed start of another kind (a
 * directory that is gone) shows in nagaya_task_wait(): status 125, and nagaya_error_text() is not
 * "". */
int nagaya_task_spawn(nagaya_space* space, const nagaya_task_program* program, int* pid);

/* Waits for a task that was spawned through this handle, then frees its memory, its blocks of the
 * space heap and its number (unless keep_ended). After that no other task may use a pointer into
 * it.
 *
 *   task         its number, or -1 for whichever ends first
 *   wait_status  as of waitpid(2); may be NULL
 *   timeout_ms   -1: for ever                                         [milliseconds]
 *
 * Returns the task's number, -ETIMEDOUT, -ECHILD (no such task), -EPIPE (the host has died). */
int nagaya_task_wait(nagaya_space* space, int task, int* wait_status, int timeout_ms);

/* Sends a signal to a task spawned through this handle. Returns 0, -ECHILD or -EPIPE. */
int nagaya_task_signal(nagaya_space* space, int task, int signal);

/* ---- tasks ------------------------------------------------------------------------------- */

/* Returns the number of the calling task in its space, -ESRCH when the caller is not a task (a
 * forked child of a task is not). Cost: a load; the first call asks the system. */
int nagaya_task_self(void);

/* Returns a number that only the tasks of this space have: two tasks that hear of each other by
 * other means compare it. 0 when the caller is not a task. */
uint64_t nagaya_space_identity(void);

/* Returns the number of tasks of the job on this node, as its launcher or creator gave it; if none
 * did, the number of tasks alive now. -ESRCH when the caller is not a task. */
int nagaya_task_count(void);

/* A range of addresses. */
typedef struct nagaya_range {
  void* base;
  size_t bytes;
} nagaya_range;

/* Stores the partition of a task: the two ranges in which all its memory lies.
 * Returns 0, -EINVAL (no such number), -ESRCH. */
int nagaya_task_partition(int task, nagaya_range ranges[2]);

/* Returns the number of the task that owns the memory at `address` (in its partition or its blocks
 * of the space heap), -ENOENT when no task does, -ESRCH. The memory need not be mapped. */
int nagaya_task_owner(const void* address);

/* Publishes an address under a name, for nagaya_task_lookup() by any task; replaces an earlier
 * one. NULL withdraws it. A task that finds the address sees everything stored before (release).
 *
 *   name   up to 63 bytes, copied
 *
 * Returns 0, -ENAMETOOLONG, -ENOMEM (the space heap is exhausted), -ESRCH. */
int nagaya_task_publish(const char* name, const void* address);

/* Finds the address that a task has published under `name`, or waits until it does (also for a task
 * that has not started yet). The address is valid as long as its owner says so: at most until the
 * owner was waited for or, unless the caller holds the owner, its job has ended.
 *
 *   timeout_ms   0: do not wait; -1: for ever                         [milliseconds]
 *
 * Returns 0, -ETIMEDOUT (or -ENOENT with timeout 0), -EOWNERDEAD (the task ended without doing so),
 * -EINVAL (no such number), -ESRCH. Wakes by futex: no processor time while waiting. */
int nagaya_task_lookup(int task, const char* name, int timeout_ms, void** address);

/* Holds a task: its memory, its blocks of the space heap and its number stay when it ends, until
 * the caller has released it as often as it has held it, or ends. Meant for tasks of different jobs
 * in one space (MPI_Comm_spawn), while one may read memory of the other; the tasks of a job need
 * not hold each other. The held task must be alive. Tasks that a creator waits for are freed
 * nevertheless.
 *
 * Returns 0, -EINVAL (no such number; released more often than held), -ESRCH. */
int nagaya_task_hold(int task);
int nagaya_task_release(int task);

/* Allocates memory of the space rather than of one libc, for structures that several tasks use.
 * The block is aligned to at least 64 bytes. It belongs to the calling task and is freed with it.
 * NULL: the heap is exhausted, or the caller is not a task. Never waits for another task; the death
 * of any task at any instruction leaves the heap usable by all others. */
void* nagaya_heap_alloc(size_t bytes);

/* Frees a block of any task. NULL is ignored. Returns 0, -EINVAL when it is no live block, -ESRCH.
 */
int nagaya_heap_free(void* block);

/* ---- errors ------------------------------------------------------------------------------ */

/* Returns the name of a negative error code, a constant string. */
const char* nagaya_strerror(int code);

/* Returns one line with the cause and the cure of the calling thread's last failed call of a
 * creator's function, of comm.h or, with -EINVAL, of llcl.h. After a nagaya_task_wait() that has
 * waited for a task: the reason why the task has not reached its program, "" if it has. Valid until
 * that thread's next failure or wait. */
const char* nagaya_error_text(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
