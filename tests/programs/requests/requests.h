/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h - shared by all acts of the program `requests`. They are:
 *
 *   requests.c    beginning, end, acts of all processes
 *   transfers.c   reads, writes, pieces, fences, prepared requests
 *   atomics.c     every atomic, from many threads; words
 *   accumulates.c operations on elements
 *   messages.c    messages and their handlers
 *   endings.c     threads and processes that end before their requests do
 *   misuse.c      mistakes: each is answered where it was made */
#ifndef REQUESTS_H
#define REQUESTS_H

#include <errno.h>
#include <nagaya/comm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { HANDLER = 3, THREADS = 3 };

#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "rank %d, %s:%d: %s\n", (int)nagaya_comm_rank(), __FILE__, __LINE__, \
              #condition);                                                                 \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

#define ACCEPTED(call)                            \
  do {                                            \
    int error;                                    \
    while ((error = (call)) == -EAGAIN) continue; \
    EXPECT(error == 0);                           \
  } while (0)

extern int64_t rank, size;
extern nagaya_process right; /* the next rank, of which this one asks */

int64_t left_rank(void);

/* Everybody's place of the same thing. */
nagaya_remote* share(void* base, size_t bytes);

/* Each round's data differ, so that the data of the round before do not pass. */
void fill(unsigned char* memory, size_t bytes, int64_t writer, int round);
int is_filled(const unsigned char* memory, size_t bytes, int64_t writer, int round);

/* A callback: adds to an int. */
void count_up(void* data, int error);

/* A handler, of running numbers in an int: `context` is `&heard`. */
extern int heard;
void hear(void* context, nagaya_process source, const void* data, size_t bytes);

void spinning_on_a_callback(void);
void every_size(void);
void notified_writes(void);
void every_piece(void);
void fences(void);
void prepared_requests(void);
void atomics_of_many_threads(void);
void every_operation(void);
void prepared_atomics(void);
void words(void);
void accumulates(void);
void accumulates_to_any_process(void);
void messages(void);
void all_flood_all_and_every_handler_answers(void);
void answers_to_a_deaf_process_have_an_end(void);
void a_message_to_a_handler_that_nobody_has_named(void);
void no_thread_for_a_handler(void);
void wild_pointer(void);
void a_thread_ends_before_its_requests(void);
void threads_ask_for_the_last_time_as_they_end(void);
void more_threads_than_lanes(void);
void a_forked_child_ends_before_the_requests(void);
void a_process_ends_before_its_requests(void);
void misuse(void);
void misuse_of_pieces_and_notifications(void);
void every_allgather(void);
void until_a_node_is_lost(void);

#endif
