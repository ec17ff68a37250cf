/* SPDX-License-Identifier: BSD-3-Clause */
/* meeting.h - a barrier of all tasks of a job, made of what nagaya/task.h offers: a counter in
 * task 0's memory, found by name. */
#ifndef NAGAYA_TESTS_MEETING_H
#define NAGAYA_TESTS_MEETING_H

#include <nagaya/task.h>
#include <sched.h>
#include <stdatomic.h>

#include "expect.h"

#define MEETING_LIMIT_MS 60000

/* Memory of another task, by the name it was published under. */
static inline void* memory_of(int task, const char* name) {
  void* address = NULL;
  EXPECT_EQUAL(nagaya_task_lookup(task, name, MEETING_LIMIT_MS, &address), 0);
  return address;
}

/* Returns when every task of the job has called it as often as the caller has. */
static inline void meet(void) {
  static atomic_int arrived;
  static int meetings;
  static atomic_int* all;
  if (nagaya_task_self() == 0 && meetings == 0)
    EXPECT_EQUAL(nagaya_task_publish("meeting", &arrived), 0);
  if (all == NULL) all = memory_of(0, "meeting");
  ++meetings;
  /* acq_rel here pairs with the acquire below: the stores of each task before are visible after. */
  atomic_fetch_add_explicit(all, 1, memory_order_acq_rel);
  while (atomic_load_explicit(all, memory_order_acquire) < meetings * nagaya_task_count())
    sched_yield();
}

#endif
