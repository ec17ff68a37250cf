/* SPDX-License-Identifier: BSD-3-Clause */
/* accumulates.c - the accumulates of `requests`: within each node, by all threads of its tasks. */
#include <pthread.h>
#include <string.h>

#include "requests.h"

enum { ELEMENTS = 3000, TIMES = 200, TICKETS = 5000 };

/* In the first task of each node that has one. */
struct target {
  int64_t counter;
  double sums[2 * ELEMENTS];
};
static struct target* target;

static void* accumulate_many(void* number) {
  const int is_backward = (rank + *(int*)number) % 2;
  static double ones[ELEMENTS];
  for (int n = 0; n < ELEMENTS; ++n) ones[n] = 1;
  const nagaya_runs backward = {NULL, 2 * sizeof(double), ELEMENTS / 2, -4 * sizeof(double)};
  const nagaya_runs forward = {NULL, 2 * sizeof(double), ELEMENTS / 2, 4 * sizeof(double)};
  const nagaya_llcl_accumulation sum = {
      .type = NAGAYA_ELEMENT_DOUBLE,
      .operation = NAGAYA_REDUCE_SUM,
      .count = ELEMENTS,
      .target = is_backward ? &target->sums[2 * ELEMENTS - 4] : target->sums,
      .target_runs = is_backward ? &backward : &forward,
      .origin = ones};
  for (int n = 0; n < TIMES; ++n) EXPECT(nagaya_llcl_accumulate(&sum) == 0);
  const int64_t one = 1;
  int64_t ticket, last = -1;
  const nagaya_llcl_accumulation take = {
      NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, 1, &target->counter, NULL, &one, &ticket};
  for (int n = 0; n < TICKETS; ++n) {
    EXPECT(nagaya_llcl_accumulate(&take) == 0 && ticket > last);
    last = ticket;
  }
  for (int64_t expected = 0, before;; expected = before) {
    const int64_t desired = expected + 1;
    EXPECT(nagaya_llcl_compare_swap(&target->counter, 8, &expected, &desired, &before) == 0);
    if (before == expected) return NULL;
  }
}

void accumulates(void) {
  static struct target own;
  nagaya_remote* const all = share(&own, sizeof own);
  int64_t tasks = 0;
  for (int64_t n = size; n-- != 0;) {
    struct target* const found = nagaya_llcl_pointer(&all[n], sizeof own);
    if (found != NULL) target = found;
    tasks += found != NULL;
  }
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int n = 0; n < THREADS; ++n) {
    numbers[n] = n;
    EXPECT(pthread_create(&threads[n], NULL, accumulate_many, &numbers[n]) == 0);
  }
  for (int n = 0; n < THREADS; ++n) pthread_join(threads[n], NULL);
  EXPECT(nagaya_comm_barrier() == 0);
  if (target == &own) {
    EXPECT(own.counter == tasks * THREADS * (TICKETS + 1));
    for (int n = 0; n < 2 * ELEMENTS; ++n)
      EXPECT(own.sums[n] == (n % 4 < 2 ? (double)(tasks * THREADS * TIMES) : 0));
  }
  EXPECT(nagaya_llcl_accumulate(NULL) == -EINVAL);
  EXPECT(nagaya_llcl_compare_swap(&own, 8, NULL, &own, &own) == -EINVAL);
  EXPECT(nagaya_comm_barrier() == 0);
}
