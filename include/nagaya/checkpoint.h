/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint.h - memory of all processes of a set in one file, or in one for each node, written
 * while they compute.
 *
 *   nagaya_checkpoint* checkpoint;
 *   nagaya_checkpoint_open(context, members, NAGAYA_CHECKPOINT_SHARED, &checkpoint);
 *   nagaya_checkpoint_piece own = {field, sizeof field};
 *   nagaya_checkpoint_write(checkpoint, "state", &own, 1);
 *   compute();                                      // `field` stays as it is
 *   nagaya_checkpoint_wait(checkpoint);
 *   ...
 *   nagaya_checkpoint_read(checkpoint, "state", &own, 1);
 *   nagaya_checkpoint_close(checkpoint);
 *
 * The host writes straight from the processes' memory (file.h). The file of that name is replaced
 * as a whole, when the new one has been synced: whenever a process, a node or the machine fails, it
 * is the last checkpoint that was complete, or the one before.
 *
 * All functions but _close are collective: all members call them, in the same order, and all get
 * the same result: the error of the lowest rank that has one. Errors: negative errno codes.
 *   -EINVAL     misuse; read: the file is no checkpoint of so many ranks
 *   -EMSGSIZE   read: a rank has written another number of bytes
 *   -EBUSY      write, read: the last checkpoint was not waited for
 *   -ESRCH      outside of a space, or in a forked child
 * and those of file.h and open(2), for example -ENOENT, -ENOSPC, -EACCES.
 * A member that passes a NULL, or has no memory, gets its error alone, and the others wait for it.
 * Thread safety: one call at a time for one checkpoint. Death of a member: its job ends.
 * Format, for other programs: docs/files.md.
 */
#ifndef NAGAYA_CHECKPOINT_H
#define NAGAYA_CHECKPOINT_H

#include <nagaya/processes.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct nagaya_checkpoint nagaya_checkpoint;

typedef enum nagaya_checkpoint_layout {
  NAGAYA_CHECKPOINT_SHARED,  /* one file */
  NAGAYA_CHECKPOINT_PER_NODE /* PATH.0, PATH.1, ...: one for each node of the job, of its ranks.
                                They are read with the same ranks on each node */
} nagaya_checkpoint_layout;

typedef struct nagaya_checkpoint_piece {
  void* data;
  size_t bytes;
} nagaya_checkpoint_piece;

/* Prepares checkpoints of these processes. Waits for nobody.
 *
 *   context   as of a team (coll.h)
 *   members   the set may be closed on return
 *
 * Returns 0, -EINVAL, -ENOMEM, or as nagaya_coll_open(). */
int nagaya_checkpoint_open(uint64_t context, const nagaya_processes* members,
                           nagaya_checkpoint_layout layout, nagaya_checkpoint** out);
/* Ends them; after nagaya_checkpoint_wait(), or the checkpoint is lost. Waits for nobody, but for
 * the host to stop using the memory. The context may be used again when all have closed. Returns 0,
 * -EINVAL (NULL), -ESRCH. */
int nagaya_checkpoint_close(nagaya_checkpoint* checkpoint);

/* Starts a checkpoint: the pieces of each rank, one behind the other, whose number and sizes are
 * its own. They stay as they are until nagaya_checkpoint_wait() has returned; the list itself may
 * change at once. Waits until all members have called it. If it fails nothing was started. */
int nagaya_checkpoint_write(nagaya_checkpoint* checkpoint, const char* path,
                            const nagaya_checkpoint_piece* pieces, size_t count);
/* Waits until the checkpoint is complete at all ranks and on the storage, and gives the file its
 * name. After an error the last checkpoint is still there. Without a checkpoint: returns 0. */
int nagaya_checkpoint_wait(nagaya_checkpoint* checkpoint);

/* Reads the pieces of each rank back. They may be cut otherwise than those that were written. */
int nagaya_checkpoint_read(nagaya_checkpoint* checkpoint, const char* path,
                           const nagaya_checkpoint_piece* pieces, size_t count);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
