/* SPDX-License-Identifier: BSD-3-Clause */
/* dies.c - a node is killed while the others wait for it: dies reflect|reduction|gmove|barrier|put|lock|post.
 * It says when, by the monotonic clock [seconds]. */
#include <signal.h>
#include <time.h>

#include "check.h"

#define N 64
#define KILLED 1
#define STEPS 100000000L

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
static double field[N];
#pragma xmp align field[i] with t[i]
#pragma xmp shadow field[1]

static char box[1 << 16]:[*], data[1 << 16];
static xmp_lock_t lock:[*];

static void die(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("killed at %ld.%03ld\n", (long)now.tv_sec, now.tv_nsec / 1000000);
  fflush(stdout);
  raise(SIGKILL);
}

int main(int argc, char** argv) {
  const char* where = argc > 1 ? argv[1] : "";
  for (long step = 0; step < STEPS; step++) {
    const int is_end = own_number() == KILLED && step == (strcmp(where, "lock") == 0 ? 20 : 1000);
    const int next = (own_number() + 1) % xmp_all_num_nodes();
    if (strcmp(where, "put") == 0) {
      box[0:1 << 16]:[next] = data[0:1 << 16];
      if (is_end) die();
      xmp_sync_all(NULL);
      continue;
    }
    if (strcmp(where, "lock") == 0) {
#pragma xmp lock(lock:[0])
      if (is_end) die();
#pragma xmp unlock(lock:[0])
      continue;
    }
    if (is_end) die();
    if (strcmp(where, "post") == 0) {
#pragma xmp post(p(next + 1), 1)
#pragma xmp wait
      continue;
    }
    if (strcmp(where, "reflect") == 0) {
#pragma xmp reflect(field)
    } else if (strcmp(where, "reduction") == 0) {
      double sum = 1;
#pragma xmp reduction(+ : sum)
    } else if (strcmp(where, "gmove") == 0) {
      double all[N];
#pragma xmp gmove
      all[:] = field[:];
    } else {
#pragma xmp barrier
    }
  }
  return 1;
}
