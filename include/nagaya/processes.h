/* SPDX-License-Identifier: BSD-3-Clause */
/* processes.h - an ordered set of processes, as collectives, areas and arrays take one, and as a
 * library keeps one for each of its communicators.
 *
 *   nagaya_processes* set;
 *   nagaya_processes_open(list, 3, rank, &set);    // list[rank] is the caller
 *   nagaya_coll_open(context, set, 0, &team);      // the team keeps what it needs
 *   nagaya_processes_close(set);
 *
 * The tasks of a node that hold equal sets share one table of it: a task holds some hundred bytes,
 * whatever the size. After: the rank tables of Yoshinaga and others 2012 (docs/processes.md).
 *
 * Errors: negative errno codes; -ESRCH of all functions in a forked child, for sets of a space.
 * Thread safety: a set may be read by any thread; its closing needs that no other call uses it.
 */
#ifndef NAGAYA_PROCESSES_H
#define NAGAYA_PROCESSES_H

#include <nagaya/llcl.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct nagaya_processes nagaya_processes;

/* In place of a rank: the caller is not in the set. Teams, areas and arrays need a set that
 * the caller is in.
 */
#define NAGAYA_NOT_A_MEMBER UINT32_MAX

/* Makes a set. Waits for nobody.
 *
 *   list   by rank, each process once: copied                                    `size` of them
 *   rank   the caller's: list[rank] is the calling task; or NAGAYA_NOT_A_MEMBER
 *
 * Outside of a space a process may make a set of itself. Returns 0, -EINVAL (also: a process is
 * there twice, or is none that can exist), -ENOMEM, -ESRCH. */
int nagaya_processes_open(const nagaya_process* list, uint32_t size, uint32_t rank,
                          nagaya_processes** out);
/* Closes a set. Returns 0, -EINVAL (NULL), -ESRCH. */
int nagaya_processes_close(nagaya_processes* set);

/* Returns the number of processes, or -ESRCH. */
int64_t nagaya_processes_size(const nagaya_processes* set);
/* Returns the caller's rank, -ENOENT (it is not in the set), or -ESRCH. */
int64_t nagaya_processes_rank(const nagaya_processes* set);
/* Stores the process of a rank. Returns 0, -EINVAL (no such rank), -ESRCH. */
int nagaya_processes_at(const nagaya_processes* set, uint32_t rank, nagaya_process* out);
/* Returns the rank of a process, -ENOENT (it is not in the set), or -ESRCH. */
int64_t nagaya_processes_rank_of(const nagaya_processes* set, nagaya_process process);
/* Returns whether all ranks first, first + stride, ... (`count` of them) are on the caller's node;
 * -EINVAL (a rank that is not there; the caller is not in the set), -ESRCH. */
int nagaya_processes_are_here(const nagaya_processes* set, uint32_t first, uint32_t count,
                              uint32_t stride);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
