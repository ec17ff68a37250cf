/* SPDX-License-Identifier: BSD-3-Clause */
/* locks.c - a lock of a coarray that all images take again and again, beside a mutex of the threads
 * library in shared memory. The holder of the lock adds to a sum that only the lock protects.
 * Arguments: [ROUNDS [TURNS]] */
#include <pthread.h>

#include "turns.h"

struct shared {
  pthread_mutex_t mutex;
  volatile long sum;
};

static struct shared shared;
xmp_lock_t lock : [*];
struct shared* own_shared : [*];

static void add_by_lock(struct shared* of_first, long turns) {
  for (long turn = 0; turn < turns; turn++) {
#pragma xmp lock(lock : [0])
    of_first->sum++;
#pragma xmp unlock(lock : [0])
  }
}

static void add_by_mutex(struct shared* of_first, long turns) {
  for (long turn = 0; turn < turns; turn++) {
    pthread_mutex_lock(&of_first->mutex);
    of_first->sum++;
    pthread_mutex_unlock(&of_first->mutex);
  }
}

int main(int argc, char** argv) {
  const long rounds = argument(argc, argv, 1, 15), turns = argument(argc, argv, 2, 2000);
  const int images = xmp_num_images();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared.mutex, &attributes);
  own_shared = &shared;
  xmp_sync_all(NULL);
  struct shared* const of_first = own_shared : [0];
  int is_right = 1;
  for (long round = 0; round < rounds; round++)
    for (int by_lock = 0; by_lock < 2; by_lock++) {
      shared.sum = 0;
      xmp_sync_all(NULL);
      const double begin = seconds();
      by_lock ? add_by_lock(of_first, turns) : add_by_mutex(of_first, turns);
      xmp_sync_all(NULL);
      const double time = seconds() - begin;
      is_right &= of_first->sum == turns * images;
      if (xmpc_this_image() == 0)
        printf("turn %s %.6g\n", by_lock ? "lock" : "mutex", time * 1e9 / (double)(turns * images));
      xmp_sync_all(NULL);
    }
#pragma xmp reduction(min : is_right)
  return ended(is_right);
}
