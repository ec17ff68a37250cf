/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.h - the processes of a job by rank, on one node or many: the place of each, and two
 * collectives to start with: a barrier and an allgather. Requests between them: llcl.h.
 *
 * Ranks are the launcher's: 0 .. size-1. Without one (tasks of nagaya_task_spawn()) a task's number
 * is its rank.
 * Several nodes: found through the launcher's PMIx or PMI-1 (MPICH's mpiexec), which an MPI in the
 * same program may use too. Over PMI-1 MPI_Init() must come before nagaya_comm_finalize(), and
 * nagaya_comm_init() before MPI_Finalize(): the first to end closes the launcher's connection.
 * Errors: negative errno codes; nagaya_error_text() says what happened and what to do.
 * Thread safety: any thread, but one collective at a time.
 * A forked child has no part in the job: all functions answer -ESRCH there, or do nothing. So a
 * child that ends by exit() may run an exit handler of its parent that calls
 * nagaya_comm_finalize().
 */
#ifndef NAGAYA_COMM_H
#define NAGAYA_COMM_H

#include <nagaya/llcl.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Collective: finds all processes of the job and makes their nodes reachable. A further call, by
 * another library in the process, say, is counted, and does nothing else. A call after the last
 * nagaya_comm_finalize() is collective again, and finds everything as it was. When one process
 * fails, all do, with its reason. A job that was spawned into the space (MPI_Comm_spawn) has ranks
 * of its own.
 * A launched process may run several programs one after the other, as a shell does. If the job has
 * one node, each of them may call this: the first callers of all processes meet, then the second.
 *
 * Returns 0, -ESRCH (the caller is not a task), -ENOTSUP (several nodes, but neither PMIx nor PMI-1
 * to find them by, or no libfabric to reach them by), -EINVAL (a variable of nagaya(7) has a
 * value that it cannot have, or processes have different tuning tables), -ETIMEDOUT (a process did
 * not come within a minute), -EOWNERDEAD (one on this node has ended before), -EEXIST (an earlier
 * program of this launched process was in the job, which has several nodes), -EPIPE (the host or
 * the launcher has died), or an error of the network. After a failure it fails for ever. */
int nagaya_comm_init(void);

/* Undoes one nagaya_comm_init(). The last one is collective: it returns when all processes have
 * called it, after their last request; else as nagaya_comm_barrier(), and the caller has left all
 * the same. The others return 0. */
int nagaya_comm_finalize(void);

/* The number of processes in the job, and the caller's rank. -ESRCH before nagaya_comm_init(). */
int64_t nagaya_comm_size(void);
int64_t nagaya_comm_rank(void);

/* The number of nodes of the job, and the number of this node. */
int64_t nagaya_comm_nodes(void);
int64_t nagaya_comm_node(void);

/* Stores the process of a rank into *out. Returns 0, -EINVAL (no such rank), -ESRCH. */
int nagaya_comm_process(int64_t rank, nagaya_process* out);

/* Returns the rank of a process, -EINVAL (the job has no such process), -ESRCH. */
int64_t nagaya_comm_rank_of(nagaya_process process);

/* Collective: returns when every process has called it. Stores before it are visible after it, in
 * the memory of the own node. Returns 0, -EOWNERDEAD (a process has ended without coming), or the
 * error of a node that cannot be reached. From then on every barrier returns that error: all
 * processes notice within seconds, wherever they wait. */
int nagaya_comm_barrier(void);

/* Collective: `all` gets the `bytes` of every rank, in their order. Meant for start-up: every
 * process sends to every node. Returns as nagaya_comm_barrier(). */
int nagaya_comm_allgather(const void* own, size_t bytes, void* all);

/* For a library that cannot go on without a node of the job, such as an MPI: its messages to and
 * from that node may be lost, and a thread that waits for one would wait for ever. From now on
 * until the last nagaya_comm_finalize() begins, one thread of this node that waits or makes
 * progress calls lost() when a node cannot be reached any more. lost() ends the process, and with
 * it the job; it must not wait for other processes. A node is lost when its host has died, its link
 * is cut, or it is silent for five seconds (NAGAYA_FAIL_AFTER_MS) though it has something to
 * answer; another node asks it each second for a sign of life as long as a task there waits. A node
 * is also lost when all of its processes have ended without the last nagaya_comm_finalize().
 *
 *   rank    the lowest rank of the lost node
 *   error   -ECONNRESET, -EHOSTUNREACH (it is silent), -EPROTO, -EIO (this node's network)
 *
 * Of several libraries in a process the first one's lost() is called.
 * Returns 0, -EINVAL (no function), -ENOSPC (four libraries watch, or too many functions are added
 * to the waits: nagaya_llcl_add_progress), -ESRCH. */
int nagaya_comm_watch_nodes(void (*lost)(int64_t rank, int error));

/* Ends nagaya_comm_watch_nodes(): lost() is not called any more. No thread may be waiting. */
void nagaya_comm_unwatch_nodes(void (*lost)(int64_t rank, int error));

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
