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
 * An index is a message's only name: two messages that are awaited at once, and of which sender or
 * receiver is the same, have different ones. Between nodes messages go by match.h.
 * Thread safety: of the areas of one process, none. Errors: negative errno codes; -ESRCH of all
 * functions in a forked child. Death of a process: its job ends.
 */
#ifndef NAGAYA_AREA_H
#define NAGAYA_AREA_H

#include <nagaya/match.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Memory of the caller's, which others write. Nothing is to be done with it. */
typedef struct nagaya_area_cell {
  uint64_t words[8];
} nagaya_area_cell;

typedef struct nagaya_areas nagaya_areas;

/* Opens the areas of the calling process. Waits for nobody. All processes call it, or none.
 *
 *   cells, flags   `count` of each; they stay until nagaya_area_close()
 *   count          the same everywhere: indexes are 0 .. count-1
 *   processes      by rank, each once: copied                                    `size` of them
 *   rank           the caller's
 *   number         0 .. 2^28-1; areas that exist at once and have members in common have different
 *                  ones
 *
 * Returns 0, -EINVAL, -ENOMEM, -ENOSPC (too many libraries that waits call: llcl.h), -ESRCH
 * (outside of a space). */
int nagaya_area_open(nagaya_area_cell* cells, uint64_t* flags, uint32_t count,
                     const nagaya_process* processes, uint32_t size, uint32_t rank, uint32_t number,
                     nagaya_areas** out);
/* Nothing is under way. Returns -EBUSY, and nothing has happened; 0, or what
 * nagaya_area_check_spool() would return: then they are closed. */
int nagaya_area_close(nagaya_areas* areas);

/* Belongs to the caller, and stays where it is until it is complete. */
typedef struct nagaya_area_send {
  const void* data;
  size_t bytes;
  uint32_t to, index;
  uint32_t is_complete; /* `data` is the caller's again */
  int32_t error;        /* then: 0; -EMSGSIZE: the receiver wanted less, and has the beginning
                           (in a node; of another node's receiver the sender does not hear);
                           -EBUSY: another process waits for a message of this index */
  nagaya_send message;  /* the library's, as all that follows */
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
  nagaya_receive message; /* the library's, as all that follows */
  void* prepared;
} nagaya_area_receive;

/* Starts a message. Every wait of the task moves it along.
 * Returns 0, -EINVAL (no such process or index), -ENOMEM. */
int nagaya_area_start_send(nagaya_areas* areas, nagaya_area_send* send);
/* Returns 0, -EINVAL, -EBUSY (the sender's area has a header of this index already), -ENOMEM. */
int nagaya_area_start_receive(nagaya_areas* areas, nagaya_area_receive* receive);

/* Messages that are sent again and again. A receive that is prepared keeps its index: no other one
 * of this index is possible until it is released. Its header lies in the sender's area already, so
 * each start is one store (between nodes: as of any other). `buffer`, `capacity`, `from` and
 * `index` stay as they are; `data` and `bytes` of a send may change between two starts. Both are
 * complete until they are started, and are tested, waited for and taken back as others are. Return
 * 0, -EINVAL (no such process or index), -EBUSY (another receive has this index). */
int nagaya_area_prepare_send(nagaya_areas* areas, nagaya_area_send* send);
int nagaya_area_prepare_receive(nagaya_areas* areas, nagaya_area_receive* receive);
/* Return 0, -EBUSY (it is under way already), -EINVAL (in a node: the receive has been released),
 * -ENOMEM. */
int nagaya_area_start_prepared_send(nagaya_areas* areas, nagaya_area_send* send);
int nagaya_area_start_prepared_receive(nagaya_areas* areas, nagaya_area_receive* receive);
/* Gives its index back, before the sender's nagaya_area_close(). Returns 0, -EBUSY (it is under
 * way). */
int nagaya_area_release_receive(nagaya_areas* areas, nagaya_area_receive* receive);

/* Whether it is complete. Looks once. */
int nagaya_area_test_send(nagaya_areas* areas, nagaya_area_send* send);
int nagaya_area_test_receive(nagaya_areas* areas, nagaya_area_receive* receive);
/* Waits until it is complete, and returns its error. */
int nagaya_area_wait_send(nagaya_areas* areas, nagaya_area_send* send);
int nagaya_area_wait_receive(nagaya_areas* areas, nagaya_area_receive* receive);

/* Takes it back: complete, with `is_cancelled`. Returns 0, -EALREADY (it is complete, or is about
 * to be). */
int nagaya_area_cancel_receive(nagaya_areas* areas, nagaya_area_receive* receive);

/* From now on a nagaya_area_send_now() whose header does not come in `patience_us` is copied to the
 * spool, and complete for its caller; those of one index reach a process in the order in which they
 * were sent. `bytes` 0: no more. Returns 0, -EBUSY (something is in the old one). */
int nagaya_area_set_spool(nagaya_areas* areas, void* buffer, size_t bytes, uint64_t patience_us);
/* Sends the messages of the spool whose headers have come: how many, and how many remain there.
 * Returns 0, or the first error of a message that was sent from the spool since the last call. */
int nagaya_area_check_spool(nagaya_areas* areas, uint32_t* sent, uint32_t* remain);

/* Sends, and waits: for the header, or, with a spool, at most so long.
 * Returns 0, -EINVAL, -EMSGSIZE, -EBUSY, -ENOBUFS (the spool has no room: nothing is sent). */
int nagaya_area_send_now(nagaya_areas* areas, const void* data, size_t bytes, uint32_t to,
                         uint32_t index);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
