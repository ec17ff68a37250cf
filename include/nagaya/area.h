/* SPDX-License-Identifier: BSD-3-Clause */
/* area.h - messages by matching areas: the receiver writes into the sender's area where the data
 * are to go, the sender writes them there, and raises a flag. No queue is searched, nothing is
 * buffered. After: FMPL (Tatebe and others).
 *
 *   receiver                       sender
 *     header ───────────────────►  cells[index]     where, and how many bytes
 *     data   ◄───────────────────  from its buffer
 *     flags[index] ◄─────────────  there they are
 *
 * A message is identified by its index alone: two messages that are pending at once, and share
 * their sender or their receiver, need different indexes. Between nodes messages go by match.h.
 * Thread safety: none: one thread at a time calls for the areas of a process. Errors: negative
 * errno codes; in a forked child all functions return -ESRCH. Death of a process: its job ends.
 */
#ifndef NAGAYA_AREA_H
#define NAGAYA_AREA_H

#include <nagaya/match.h>
#include <nagaya/processes.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Memory of the caller into which other processes write. The caller never reads or writes it. */
typedef struct nagaya_area_cell {
  uint64_t words[8];
} nagaya_area_cell;

typedef struct nagaya_areas nagaya_areas;

/* Opens the areas of the calling process. Waits for nobody. All processes call it, or none.
 *
 *   cells, flags   `count` of each; they stay until nagaya_area_close()
 *   count          the same everywhere: indexes are 0 .. count-1
 *   members        the set may be closed on return
 *   number         0 .. 2^28-1; areas that exist at once and have members in common have different
 *                  ones
 *
 * Returns 0, -EINVAL, -ENOMEM, -ENOSPC (too many libraries that waits call: llcl.h), -ESRCH
 * (outside of a space). */
int nagaya_area_open(nagaya_area_cell* cells, uint64_t* flags, uint32_t count,
                     const nagaya_processes* members, uint32_t number, nagaya_areas** out);
/* Closes the areas. No message may be pending: otherwise returns -EBUSY, and nothing has happened.
 * Else the areas are closed, and it returns 0 or the error that nagaya_area_check_spool() would. */
int nagaya_area_close(nagaya_areas* areas);

/* A send. The struct belongs to the caller, and stays where it is until the send is complete. */
typedef struct nagaya_area_send {
  const void* data;
  size_t bytes;
  uint32_t to, index;
  uint32_t is_complete; /* `data` is the caller's again */
  int32_t error;        /* when it is complete: 0; -EMSGSIZE: the receiver wanted less, and has the
                           beginning (reported only if the receiver is on this node);
                           -EBUSY: another process waits for a message of this index */
  nagaya_send message;  /* this field and the next ones belong to the library */
  struct nagaya_area_send* next;
  void* copy;
} nagaya_area_send;

typedef struct nagaya_area_receive {
  void* buffer;
  size_t capacity;
  uint32_t from, index;
  uint32_t is_complete;
  uint32_t is_cancelled;
  int32_t error;          /* when it is complete: 0, -EMSGSIZE: there is only the beginning */
  size_t bytes;           /* of the message; at most `capacity` are there */
  nagaya_receive message; /* this field and the next one belong to the library */
  void* prepared;
} nagaya_area_receive;

/* Starts a send. Every wait of the task advances it.
 * Returns 0, -EINVAL (no such process or index), -ENOMEM. */
int nagaya_area_start_send(nagaya_areas* areas, nagaya_area_send* send);
/* Starts a receive: writes its header into the sender's area. Returns 0, -EINVAL, -EBUSY (the
 * sender's area has a header of this index already), -ENOMEM. */
int nagaya_area_start_receive(nagaya_areas* areas, nagaya_area_receive* receive);

/* Prepare a send or a receive that is started again and again. A prepared receive keeps its index:
 * no other receive can have it until the release. Its header lies in the sender's area already, so
 * each start is one store (between nodes it costs as much as any other receive). `buffer`,
 * `capacity`, `from` and `index` stay as they are; `data` and `bytes` of a send may change between
 * two starts. A prepared request counts as complete until it is started; it is tested, waited for
 * and cancelled by the functions below. Return 0, -EINVAL (no such process or index), -EBUSY
 * (another receive has this index). */
int nagaya_area_prepare_send(nagaya_areas* areas, nagaya_area_send* send);
int nagaya_area_prepare_receive(nagaya_areas* areas, nagaya_area_receive* receive);
/* Start a prepared request. Return 0, -EBUSY (it is pending already), -EINVAL (in a node: the
 * receive has been released), -ENOMEM. */
int nagaya_area_start_prepared_send(nagaya_areas* areas, nagaya_area_send* send);
int nagaya_area_start_prepared_receive(nagaya_areas* areas, nagaya_area_receive* receive);
/* Releases a prepared receive and its index; to be called before the sender calls
 * nagaya_area_close(). Returns 0, -EBUSY (the receive is pending). */
int nagaya_area_release_receive(nagaya_areas* areas, nagaya_area_receive* receive);

/* Return nonzero if the request is complete. They poll once and do not wait. */
int nagaya_area_test_send(nagaya_areas* areas, nagaya_area_send* send);
int nagaya_area_test_receive(nagaya_areas* areas, nagaya_area_receive* receive);
/* Wait until the request is complete, and return its error. */
int nagaya_area_wait_send(nagaya_areas* areas, nagaya_area_send* send);
int nagaya_area_wait_receive(nagaya_areas* areas, nagaya_area_receive* receive);

/* Cancels a receive: it becomes complete, with `is_cancelled`. Returns 0, -EALREADY (it is complete
 * already, or is about to be). */
int nagaya_area_cancel_receive(nagaya_areas* areas, nagaya_area_receive* receive);

/* Sets the memory of the spool. From now on nagaya_area_send_now() copies a message to the spool,
 * and returns, if its header has not arrived within `patience_us`. Messages of one index reach a
 * process in the order in which they were sent. `bytes` 0: no spool from now on. Returns 0, -EBUSY
 * (the old spool still has messages). */
int nagaya_area_set_spool(nagaya_areas* areas, void* buffer, size_t bytes, uint64_t patience_us);
/* Sends the messages of the spool whose headers have arrived. *sent gets their number, *remain the
 * number of messages that stay in the spool.
 * Returns 0, or the first error of a message that was sent from the spool since the last call. */
int nagaya_area_check_spool(nagaya_areas* areas, uint32_t* sent, uint32_t* remain);

/* Sends a message, and waits until its header has arrived and the data are sent; with a spool it
 * waits for at most `patience_us`.
 * Returns 0, -EINVAL, -EMSGSIZE, -EBUSY, -ENOBUFS (the spool has no room: nothing is sent). */
int nagaya_area_send_now(nagaya_areas* areas, const void* data, size_t bytes, uint32_t to,
                         uint32_t index);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
