/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - thread-local variables of the program, each thread's own; keys with destructors;
 * a mutex and a condition variable; a cancelled thread. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "expect.h"

enum { kThreads = 8, kRounds = 20000 };

static __thread long own = 3;
static __thread char big[100000];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static int counter, destroyed, arrived;

static void destroy(void* value) {
  free(value);
  __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED);
}

static void* work(void* argument) {
  const long number = (long)argument;
  EXPECT_EQUAL(own, 3);
  EXPECT_EQUAL(big[sizeof big - 1], 0);
  pthread_setspecific(key, malloc(64));
  own += number;
  memset(big, (int)number, sizeof big);
  pthread_mutex_lock(&mutex);
  if (++arrived == kThreads) pthread_cond_broadcast(&changed);
  while (arrived < kThreads) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  for (int n = 0; n < kRounds; ++n) {
    pthread_mutex_lock(&mutex);
    ++counter;
    pthread_mutex_unlock(&mutex);
  }
  EXPECT_EQUAL(own, 3 + number);
  EXPECT_EQUAL(big[sizeof big - 1], number);
  return (void*)own;
}

static void* sleep_on(void* unused) {
  (void)unused;
  while (pause() != 0) continue;
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads], sleeper;
  void* result;
  EXPECT_EQUAL(pthread_key_create(&key, destroy), 0);
  EXPECT_EQUAL(pthread_create(&sleeper, NULL, sleep_on, NULL), 0);
  for (long n = 0; n < kThreads; ++n)
    EXPECT_EQUAL(pthread_create(&threads[n], NULL, work, (void*)n), 0);
  for (long n = 0; n < kThreads; ++n) {
    EXPECT_EQUAL(pthread_join(threads[n], &result), 0);
    EXPECT_EQUAL((long)result, 3 + n);
  }
  EXPECT_EQUAL(pthread_cancel(sleeper), 0);
  EXPECT_EQUAL(pthread_join(sleeper, &result), 0);
  EXPECT(result == PTHREAD_CANCELED);
  EXPECT_EQUAL(own, 3);
  printf("counter %d destroyed %d\n", counter, destroyed);
  return 0;
}
