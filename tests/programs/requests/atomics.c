/* SPDX-License-Identifier: BSD-3-Clause */
/* atomics.c - the atomics of `requests`. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "requests.h"

enum { ADDS = 20000 };

static nagaya_remote* counters;
static void* add_many(void* unused) {
  uint64_t done = 0;
  for (int n = 0; n < ADDS; ++n) {
    nagaya_llcl_atomic add = {.remote = counters[0],
                              .operation = NAGAYA_ADD,
                              .type = NAGAYA_UINT64,
                              .operand = 1,
                              .on_complete = nagaya_counter(&done)};
    ACCEPTED(nagaya_llcl_try_atomic(&add));
  }
  EXPECT(nagaya_llcl_wait_counter(&done, ADDS, 60000) == 0);
  return unused;
}

void atomics_of_many_threads(void) {
  static uint64_t sum;
  counters = share(&sum, sizeof sum);
  pthread_t threads[THREADS];
  for (int n = 0; n < THREADS; ++n) EXPECT(pthread_create(&threads[n], NULL, add_many, NULL) == 0);
  for (int n = 0; n < ADDS && rank == 0; ++n) __atomic_fetch_add(&sum, 1, __ATOMIC_SEQ_CST);
  for (int n = 0; n < THREADS; ++n) pthread_join(threads[n], NULL);
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(rank != 0 || sum == (uint64_t)(size * THREADS + 1) * ADDS);
}

static uint64_t one(nagaya_remote place, nagaya_operation operation, nagaya_type type,
                    uint64_t operand, uint64_t expected) {
  uint64_t before = 0;
  uint32_t done = 0;
  nagaya_llcl_atomic what = {place,   operation,         type, operand, expected,
                             &before, nagaya_flag(&done)};
  ACCEPTED(nagaya_llcl_try_atomic(&what));
  EXPECT(nagaya_llcl_wait_flag(&done, 20000) == 0);
  return before;
}

void every_operation(void) {
  static uint64_t word;
  nagaya_remote* const all = share(&word, sizeof word);
  const nagaya_remote next = all[(rank + 1) % size];
  EXPECT(one(next, NAGAYA_SWAP, NAGAYA_UINT64, 12, 0) == 0);
  EXPECT(one(next, NAGAYA_ADD, NAGAYA_INT64, (uint64_t)-2, 0) == 12);
  EXPECT(one(next, NAGAYA_COMPARE_SWAP, NAGAYA_UINT64, 5, 11) == 10);
  EXPECT(one(next, NAGAYA_COMPARE_SWAP, NAGAYA_UINT64, 6, 10) == 10);
  EXPECT(one(next, NAGAYA_OR, NAGAYA_UINT32, 9, 0) == 6);
  EXPECT(one(next, NAGAYA_AND, NAGAYA_UINT32, 13, 0) == 15);
  EXPECT(one(next, NAGAYA_XOR, NAGAYA_INT32, 4, 0) == 13);
  EXPECT(one(next, NAGAYA_MIN, NAGAYA_INT32, (uint32_t)-3, 0) == 9);
  EXPECT(one(next, NAGAYA_MAX, NAGAYA_UINT32, 1, 0) == (uint32_t)-3);
  double value = 1.5;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  one(next, NAGAYA_SWAP, NAGAYA_DOUBLE, bits, 0);
  one(next, NAGAYA_ADD, NAGAYA_DOUBLE, bits, 0);
  const uint64_t sum = one(next, NAGAYA_MAX, NAGAYA_DOUBLE, bits, 0);
  memcpy(&value, &sum, sizeof value);
  EXPECT(value == 3.0);
}

/* All add to one word; each start of one process sees it grow. */
void prepared_atomics(void) {
  enum { ROUNDS = 500 };
  static uint64_t word;
  static uint32_t largest;
  nagaya_remote* const words = share(&word, sizeof word);
  nagaya_remote* const largests = share(&largest, sizeof largest);
  uint64_t before = 0, last = 0, done = 0;
  nagaya_llcl_atomic add = {words[0], NAGAYA_ADD, NAGAYA_UINT64,        3,
                            0,        &before,    nagaya_counter(&done)};
  nagaya_llcl_atomic raise = {largests[0], NAGAYA_MAX, NAGAYA_UINT32,        (uint64_t)rank + 7,
                              0,           NULL,       nagaya_counter(&done)};
  nagaya_llcl_prepared adding, raising;
  EXPECT(nagaya_llcl_prepare_atomic(&add, &adding) == 0);
  EXPECT(nagaya_llcl_prepare_atomic(&raise, &raising) == 0);
  EXPECT(nagaya_llcl_prepare_atomic(NULL, &adding) == -EINVAL);
  EXPECT(nagaya_llcl_prepare_atomic(&add, NULL) == -EINVAL);
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    ACCEPTED(nagaya_llcl_try_start(&adding));
    ACCEPTED(nagaya_llcl_try_start(&raising));
    EXPECT(nagaya_llcl_wait_counter(&done, 2 * (round + 1), 20000) == 0);
    EXPECT(before % 3 == 0 && (round == 0 || before > last));
    last = before;
  }
  EXPECT(nagaya_comm_barrier() == 0);
  if (rank == 0) EXPECT(word == 3u * ROUNDS * (uint64_t)size && largest == (uint64_t)size + 6);
}

/* Round a ring of words, which wrap on the way. Each process waits, now and then long enough to
 * sleep. */
void words(void) {
  enum { ROUNDS = 20, LAPS = 200 };
  const uint64_t begin = UINT64_MAX - ROUNDS;
  static uint64_t ring = UINT64_MAX - 2 * ROUNDS, sum; /* has not reached `begin` */
  const nagaya_remote next = share(&ring, sizeof ring)[(rank + 1) % size];
  const nagaya_remote first = share(&sum, sizeof sum)[0];
  uint64_t done = 0, asked = 0;
  ACCEPTED(nagaya_llcl_try_set_word(&next, begin, nagaya_counter(&done)));
  EXPECT(nagaya_llcl_wait_counter(&done, ++asked, 20000) == 0);
  EXPECT(nagaya_llcl_wait_word(&ring, begin, 20000) == 0 && ring == begin);
  EXPECT(nagaya_llcl_wait_word(&ring, begin + 1, 10) == -ETIMEDOUT);
  EXPECT(nagaya_comm_barrier() == 0);
  for (uint64_t round = 1; round <= LAPS; ++round) {
    if (rank != 0) EXPECT(nagaya_llcl_wait_word(&ring, begin + round, 20000) == 0);
    if (rank == 0 && round % 50 == 0) usleep(100000); /* the others sleep */
    ACCEPTED(nagaya_llcl_try_add_word(&next, 1, nagaya_counter(&done)));
    if (rank == 0) EXPECT(nagaya_llcl_wait_word(&ring, begin + round, 20000) == 0);
    ACCEPTED(nagaya_llcl_try_add_word(&first, (uint64_t)rank, nagaya_counter(&done)));
    asked += 2;
  }
  EXPECT(ring == begin + LAPS);
  EXPECT(nagaya_llcl_wait_counter(&done, asked, 20000) == 0);
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(rank != 0 || sum == (uint64_t)(LAPS * size * (size - 1) / 2));
  EXPECT(nagaya_llcl_try_add_word(NULL, 1, nagaya_counter(&done)) == -EINVAL);
  nagaya_remote odd = next;
  odd.offset = 4;
  EXPECT(size == 1 || !nagaya_llcl_pointer(&next, 8) ||
         nagaya_llcl_try_set_word(&odd, 1, nagaya_counter(&done)) == -EINVAL);
}
