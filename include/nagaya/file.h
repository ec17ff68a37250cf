/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h - reads and writes of files by the node's host, while the caller computes.
 *
 *   nagaya_file* file;
 *   nagaya_file_request written;
 *   nagaya_file_open("field.bin", O_WRONLY | O_CREAT, 0666, &file);
 *   nagaya_file_write(file, field, sizeof field, rank * sizeof field, &written);
 *   compute();
 *   nagaya_file_wait(&written, -1);
 *   nagaya_file_close(file);
 *
 * A request is given to a thread of the host, which reads or writes the caller's memory itself: no
 * byte is copied but by the kernel, from or into its page cache. Tasks that open the same file in
 * the same mode share one descriptor of the host, and requests for adjacent bytes of that file go
 * to the kernel as one, whichever tasks made them. After: MPI by delegation (Yoshinaga and others
 * 2012; docs/files.md).
 *
 * Requests: nagaya_file_write(), _read() and _sync() never block. 0: accepted, and the request
 * completes once, possibly with an error. Anything else: nothing has happened:
 *   -EAGAIN   256 requests of this task wait for the host: wait for an earlier one, and call again
 *   -EINVAL   misuse: NULL, a negative offset, more bytes than a file can have
 *   -EFBIG    write: beyond the caller's limit (RLIMIT_FSIZE)
 *   -ESRCH    outside of a space, or in a forked child
 * A request's own error is the kernel's: -EBADF (the file is not open in this mode), -ENOSPC,
 * -EDQUOT, -EIO, -EFAULT (memory that is not there), ... Some of its bytes may have been written
 * (`bytes`). Interrupted and short transfers are continued: a write without an error is whole. A
 * read ends at the end of the file.
 * Memory: until a write is complete its data must stay as they are, and until a read is complete
 * nobody may touch its destination. The nagaya_file_request stays until then, too.
 * Order: requests may be carried out in any order, whole or in pieces. A request that was made
 * after another one's completion was seen, by whatever task, comes after it. The data of a
 * completed write are read by everybody from then on; they survive the death of its task, of the
 * host and of the job. They survive the machine's once a sync of the file, made after the write was
 * complete or by the same task through the same handle, is complete, too.
 * Death: the requests of a task that ends before they are complete may have been carried out in
 * whole, in part, or not at all. The memory of an ended task stays until the host has stopped using
 * it.
 * Thread safety: all functions may be called from any thread at any time, but no call may use a
 * file during its closing.
 */
#ifndef NAGAYA_FILE_H
#define NAGAYA_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct nagaya_file nagaya_file;

/* The caller's, until it is complete. No call initialises it but the one that makes the request. */
typedef struct nagaya_file_request {
  uint32_t done; /* 0; when the request is complete 1, or the negative errno: a flag of llcl.h */
  uint32_t reserved;
  uint64_t bytes; /* written or read, once the request is complete */
} nagaya_file_request;

/* Opens a file for the calling task alone, as open(2) does in that task: its directory, its rights,
 * its umask. Then hands the descriptor to the host. Takes about as long as a process takes to
 * connect to a socket. Waits for nobody else.
 *
 *   flags, mode   as of open(2), without O_APPEND
 *
 * Returns 0, -EINVAL (NULL, O_APPEND), -ESPIPE (a file without offsets: a pipe, a terminal),
 * -ENOMEM, -ESRCH, an error of open(2), -EPIPE and the like: the host is lost. */
int nagaya_file_open(const char* path, int flags, mode_t mode, nagaya_file** out);

/* Closes a file, after waiting for the requests that were made through it. The other pending work
 * of the task is advanced meanwhile. Does not sync. Returns 0, -EINVAL (NULL), -ESRCH. */
int nagaya_file_close(nagaya_file* file);

/* Make a request: to write or read `bytes` (may be 0) of the file from `offset` on; to bring what
 * the caller has written through `file`, and what others have whose requests are complete, to the
 * storage, as fdatasync(2) does. Once a sync of a file has failed, those of all tasks of the node
 * that have it open fail: what it was to store is lost. */
int nagaya_file_write(nagaya_file* file, const void* data, size_t bytes, int64_t offset,
                      nagaya_file_request* request);
int nagaya_file_read(nagaya_file* file, void* data, size_t bytes, int64_t offset,
                     nagaya_file_request* request);
int nagaya_file_sync(nagaya_file* file, nagaya_file_request* request);

/* Waits for a request: spins, yields, sleeps, and advances the other pending work of the task.
 * nagaya_llcl_wait_flag(&request->done, ...) is the same.
 *
 *   timeout_ms   -1: for ever                                                   [milliseconds]
 *
 * Returns 0, the request's error, -ETIMEDOUT, -EINVAL (NULL), -ESRCH. */
int nagaya_file_wait(const nagaya_file_request* request, int timeout_ms);

/* Returns 1 if the request is complete, 0 if it is not, or its error; -EINVAL (NULL), -ESRCH. */
int nagaya_file_test(const nagaya_file_request* request);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
