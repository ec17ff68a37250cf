/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c - the messages of `requests`. */
#include <nagaya/task.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "requests.h"

enum { LONG_BYTES = 100000, MESSAGES = 2000 };

/* Heard from the left neighbour, in order. */
int heard;
void hear(void* context, nagaya_process source, const void* data, size_t bytes) {
  const unsigned char* const body = data;
  EXPECT(context == &heard && nagaya_task_self() >= 0);
  EXPECT(bytes == sizeof heard || bytes == LONG_BYTES);
  int number;
  memcpy(&number, body, sizeof number);
  EXPECT(number == heard && (bytes != LONG_BYTES || body[LONG_BYTES - 1] == 77));
  (void)source;
  __atomic_store_n(&heard, heard + 1, __ATOMIC_RELEASE);
}

/* More than a mailbox holds, to a process that takes part, and hears nothing. */
static void find_no_handler(void) {
  EXPECT(nagaya_comm_barrier() == 0);
  for (int n = 0; n < 300; ++n) {
    uint32_t answered = 0;
    ACCEPTED(nagaya_llcl_try_message(right, HANDLER, &n, sizeof n, nagaya_flag(&answered)));
    EXPECT(nagaya_llcl_wait_flag(&answered, 20000) == -ENOENT);
  }
  EXPECT(nagaya_comm_barrier() == 0);
}

void messages(void) {
  unsigned char* const body = calloc(1, LONG_BYTES);
  body[LONG_BYTES - 1] = 77;
  find_no_handler();
  EXPECT(nagaya_llcl_handle(HANDLER, hear, &heard) == 0);
  EXPECT(nagaya_llcl_handle(HANDLER, hear, &heard) == -EEXIST);
  EXPECT(nagaya_comm_barrier() == 0);
  uint64_t sent = 0;
  for (int n = 0; n < MESSAGES; ++n) {
    unsigned char copy[sizeof n];
    memcpy(copy, &n, sizeof n);
    const size_t bytes = n % 100 == 99 ? LONG_BYTES : sizeof n;
    memcpy(body, &n, sizeof n);
    ACCEPTED(nagaya_llcl_try_message(right, HANDLER, bytes == LONG_BYTES ? body : copy, bytes,
                                     nagaya_counter(&sent)));
    EXPECT(nagaya_llcl_wait_counter(&sent, (uint32_t)n + 1, 20000) == 0);
  }
  while (__atomic_load_n(&heard, __ATOMIC_ACQUIRE) < MESSAGES) continue;
  EXPECT(nagaya_comm_barrier() == 0);
}

/* A thread that cannot be started is an error of the request that needs it, and of no later one. */
void no_thread_for_a_handler(void) {
  struct rlimit all, none;
  EXPECT(geteuid() != 0 && getrlimit(RLIMIT_NPROC, &all) == 0);
  none = all;
  none.rlim_cur = 0;
  EXPECT(setrlimit(RLIMIT_NPROC, &none) == 0);
  EXPECT(nagaya_llcl_handle(HANDLER, hear, &heard) == -ENOMEM);
  EXPECT(setrlimit(RLIMIT_NPROC, &all) == 0);
  EXPECT(nagaya_llcl_handle(HANDLER, hear, &heard) == 0);
  EXPECT(nagaya_comm_barrier() == 0);
  const int first = 0;
  uint32_t sent = 0;
  ACCEPTED(nagaya_llcl_try_message(right, HANDLER, &first, sizeof first, nagaya_flag(&sent)));
  EXPECT(nagaya_llcl_wait_flag(&sent, 20000) == 0);
  while (__atomic_load_n(&heard, __ATOMIC_ACQUIRE) == 0) continue;
  EXPECT(nagaya_comm_barrier() == 0);
}

/* ---- handlers that answer ------------------------------------------------------------------ */

enum { REQUEST = 10, REPLY, STANDING_REPLY, UNNAMED = 77, ROUNDS = 3000, MOST_KEPT = 4096 };
static const nagaya_completion nothing = {0};
static int requests_heard, replies_heard, may_go_on;
static unsigned char answer_of_any_length[300];

/* Never refused, however full the mailboxes are. */
static void answer(void* number, nagaya_process source, const void* data, size_t bytes) {
  (void)data;
  EXPECT(bytes <= sizeof answer_of_any_length);
  EXPECT(nagaya_llcl_try_message(source, (uint32_t)(uintptr_t)number, answer_of_any_length, bytes,
                                 nothing) == 0);
  __atomic_fetch_add(&requests_heard, 1, __ATOMIC_RELEASE);
}

static void count_reply(void* context, nagaya_process source, const void* data, size_t bytes) {
  (void)context, (void)source, (void)data, (void)bytes;
  __atomic_fetch_add(&replies_heard, 1, __ATOMIC_RELEASE);
}

static void stand_still(void* context, nagaya_process source, const void* data, size_t bytes) {
  while (!__atomic_load_n(&may_go_on, __ATOMIC_ACQUIRE)) usleep(1000);
  count_reply(context, source, data, bytes);
}

static void await_replies(int count) {
  while (__atomic_load_n(&replies_heard, __ATOMIC_ACQUIRE) < count) usleep(100);
  EXPECT(nagaya_comm_barrier() == 0 && replies_heard == count);
}

void all_flood_all_and_every_handler_answers(void) {
  EXPECT(nagaya_llcl_handle(REQUEST, answer, (void*)(uintptr_t)REPLY) == 0);
  EXPECT(nagaya_llcl_handle(REPLY, count_reply, NULL) == 0);
  EXPECT(nagaya_comm_barrier() == 0);
  static const unsigned char asked[sizeof answer_of_any_length];
  for (int n = 0; n < 2 * ROUNDS; ++n) {
    nagaya_process to;
    EXPECT(nagaya_comm_process((rank + n) % size, &to) == 0);
    const size_t bytes = n < ROUNDS ? 8 : sizeof asked;
    ACCEPTED(nagaya_llcl_try_message(to, REQUEST, asked, bytes, nothing));
  }
  await_replies(2 * ROUNDS);
}

/* Rank 1 asks rank 0, and does not hear: at some point it may not ask any more, so what rank 0
 * keeps for it has an end. */
void answers_to_a_deaf_process_have_an_end(void) {
  nagaya_process first, second;
  EXPECT(nagaya_comm_process(0, &first) == 0);
  const int has_two = nagaya_comm_process(1 % size, &second) == 0 && size > 1;
  EXPECT(nagaya_llcl_handle(REQUEST, answer, (void*)(uintptr_t)STANDING_REPLY) == 0);
  EXPECT(nagaya_llcl_handle(STANDING_REPLY, stand_still, NULL) == 0);
  EXPECT(nagaya_comm_barrier() == 0);
  int asked = 0;
  if (rank == 1 && has_two && first.node == second.node) {
    for (int refused = 0; refused < 100000 && asked < 2 * MOST_KEPT;) {
      const int error = nagaya_llcl_try_message(first, REQUEST, &asked, sizeof asked, nothing);
      EXPECT(error == 0 || error == -EAGAIN);
      refused = error == 0 ? 0 : refused + 1;
      asked += error == 0;
      if (error != 0) sched_yield();
    }
    EXPECT(asked < MOST_KEPT);
  }
  __atomic_store_n(&may_go_on, 1, __ATOMIC_RELEASE);
  await_replies(asked);
}

/* The receiver says so in one line, and hears what comes after it. */
void a_message_to_a_handler_that_nobody_has_named(void) {
  EXPECT(nagaya_llcl_handle(REPLY, count_reply, NULL) == 0);
  EXPECT(nagaya_comm_barrier() == 0);
  for (int n = 0; n < 3; ++n) ACCEPTED(nagaya_llcl_try_message(right, UNNAMED, "x", 1, nothing));
  ACCEPTED(nagaya_llcl_try_message(right, REPLY, "x", 1, nothing));
  await_replies(1);
}
