/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c - the messages of `requests`. */
#include <nagaya/task.h>
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
