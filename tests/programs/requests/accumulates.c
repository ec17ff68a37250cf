/* SPDX-License-Identifier: BSD-3-Clause */
/* accumulates.c - the accumulates of `requests`, by all threads of the tasks: within each node by
 * pointers, and to any process. */
#include <pthread.h>
#include <stddef.h>
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

/* ---- to any process ---------------------------------------------------------------------- */

/* In the first task: it has work for several batches. */
enum { MANY = 12000, ROUNDS = 20, REMOTE_TICKETS = 300 };
struct remote_target {
  int64_t counter, swapped;
  double sums[2 * MANY];
};

static nagaya_remote remote_target;

static nagaya_remote at(uint64_t offset) {
  nagaya_remote place = remote_target;
  place.offset += offset;
  return place;
}

static void accumulate_and_wait(const nagaya_llcl_remote_accumulation* all) {
  uint32_t done = 0;
  nagaya_llcl_remote_accumulation flagged = *all;
  flagged.on_complete = nagaya_flag(&done);
  ACCEPTED(nagaya_llcl_try_accumulate(&flagged));
  EXPECT(nagaya_llcl_wait_flag(&done, -1) == 0);
}

static void take_tickets(void) {
  const int64_t one = 1;
  int64_t ticket, last = -1;
  const nagaya_llcl_remote_accumulation take = {
      at(offsetof(struct remote_target, counter)),
      {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, 1, NULL, NULL, &one, &ticket},
      {0}};
  for (int n = 0; n < REMOTE_TICKETS; ++n, last = ticket) {
    accumulate_and_wait(&take);
    EXPECT(ticket > last);
  }
}

static void count_by_swaps(void) {
  for (int64_t expected = 0, before;; expected = before) {
    const int64_t desired = expected + 1;
    uint32_t done = 0;
    const nagaya_llcl_remote_compare_swap swap = {at(offsetof(struct remote_target, swapped)),
                                                  8,
                                                  &expected,
                                                  &desired,
                                                  &before,
                                                  nagaya_flag(&done)};
    ACCEPTED(nagaya_llcl_try_compare_swap(&swap));
    EXPECT(nagaya_llcl_wait_flag(&done, -1) == 0);
    if (before == expected) return;
  }
}

static void* accumulate_on_the_first(void* number) {
  static double ones[MANY];
  for (int n = 0; n < MANY; ++n) ones[n] = 1;
  const nagaya_runs runs = {NULL, 2 * sizeof(double), MANY / 2, 4 * sizeof(double)};
  uint64_t done = 0;
  const nagaya_llcl_remote_accumulation sum = {
      at(offsetof(struct remote_target, sums)),
      {NAGAYA_ELEMENT_DOUBLE, NAGAYA_REDUCE_SUM, MANY, NULL, &runs, ones, NULL},
      nagaya_counter(&done)};
  for (int n = 0; n < ROUNDS; ++n) ACCEPTED(nagaya_llcl_try_accumulate(&sum));
  take_tickets();
  count_by_swaps();
  EXPECT(nagaya_llcl_wait_counter(&done, ROUNDS, -1) == 0);
  return number;
}

enum { LONG = 100000 }; /* elements whose operands the delegatee of another node reads itself */

/* Each process changes its right neighbour's elements by calls that do not wait for each other. */
static void change_in_order(const nagaya_remote* neighbour) {
  static double all[LONG], before[LONG], last;
  const double three = 3;
  for (int n = 0; n < LONG; ++n) all[n] = n;
  const nagaya_llcl_remote_accumulation replace = {
      *neighbour, {NAGAYA_ELEMENT_DOUBLE, NAGAYA_REDUCE_REPLACE, LONG, NULL, NULL, all, NULL}, {0}};
  nagaya_llcl_remote_accumulation multiply = {
      *neighbour, {NAGAYA_ELEMENT_DOUBLE, NAGAYA_REDUCE_PROD, 1, NULL, NULL, &three, &last}, {0}};
  multiply.remote.offset += (LONG - 1) * sizeof(double);
  nagaya_llcl_remote_accumulation get = {
      *neighbour,
      {NAGAYA_ELEMENT_DOUBLE, NAGAYA_REDUCE_NO_OP, LONG, NULL, NULL, NULL, before},
      {0}};
  ACCEPTED(nagaya_llcl_try_accumulate(&replace));
  ACCEPTED(nagaya_llcl_try_accumulate(&multiply));
  ACCEPTED(nagaya_llcl_try_accumulate(&get));
  EXPECT(nagaya_llcl_flush(neighbour->process.node, -1) == 0);
  EXPECT(last == LONG - 1);
  for (int n = 0; n < LONG; ++n) EXPECT(before[n] == (n < LONG - 1 ? n : 3 * (LONG - 1)));
}

static void refuse_remote_misuse(const nagaya_remote* neighbour, int64_t* word) {
  nagaya_llcl_remote_accumulation wrong = {
      *neighbour, {NAGAYA_ELEMENT_INT64, NAGAYA_REDUCE_SUM, 1, NULL, NULL, word, NULL}, {0}};
  wrong.what.operation = NAGAYA_REDUCE_MAXLOC;
  EXPECT(nagaya_llcl_try_accumulate(&wrong) == -EINVAL);
  wrong.what.operation = NAGAYA_REDUCE_SUM;
  wrong.what.target = word;
  EXPECT(nagaya_llcl_try_accumulate(&wrong) == -EINVAL);
  wrong.what.target = NULL;
  wrong.what.origin = NULL;
  EXPECT(nagaya_llcl_try_accumulate(&wrong) == -EINVAL);
  EXPECT(nagaya_llcl_try_accumulate(NULL) == -EINVAL);
  const nagaya_llcl_remote_compare_swap swap = {*neighbour, 3, word, word, word, {0}};
  EXPECT(nagaya_llcl_try_compare_swap(&swap) == -EINVAL);
  EXPECT(nagaya_llcl_try_compare_swap(NULL) == -EINVAL);
  /* On another node the completion has the error of the region. */
  wrong.what.origin = word;
  wrong.remote.offset = UINT64_C(1) << 40;
  uint32_t done = 0;
  wrong.on_complete = nagaya_flag(&done);
  int error;
  while ((error = nagaya_llcl_try_accumulate(&wrong)) == -EAGAIN) continue;
  if (error == 0) error = nagaya_llcl_wait_flag(&done, -1);
  EXPECT(error == -EINVAL);
}

void accumulates_to_any_process(void) {
  static struct remote_target own;
  static double ordered[LONG];
  const nagaya_remote* const all = share(&own, sizeof own);
  const nagaya_remote* const arrays = share(ordered, sizeof ordered);
  remote_target = all[0];
  pthread_t threads[THREADS];
  for (int n = 0; n < THREADS; ++n)
    EXPECT(pthread_create(&threads[n], NULL, accumulate_on_the_first, NULL) == 0);
  change_in_order(&arrays[(rank + 1) % size]);
  for (int n = 0; n < THREADS; ++n) pthread_join(threads[n], NULL);
  EXPECT(nagaya_comm_barrier() == 0);
  if (rank == 0) {
    EXPECT(own.counter == size * THREADS * REMOTE_TICKETS && own.swapped == size * THREADS);
    for (int n = 0; n < 2 * MANY; ++n)
      EXPECT(own.sums[n] == (n % 4 < 2 ? (double)(size * THREADS * ROUNDS) : 0));
  }
  int64_t word = 0;
  refuse_remote_misuse(&arrays[(rank + 1) % size], &word);
  EXPECT(nagaya_comm_barrier() == 0);
}
