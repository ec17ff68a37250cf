/* SPDX-License-Identifier: BSD-3-Clause */
/* posts.c - post and wait of two nodes, there and back, beside flags in shared memory. A node that
 * waits for a flag polls it, and yields after as many polls in vain as the library. The turn that a
 * node has seen checks that no post gets lost. Arguments: [ROUNDS [TURNS]] */
#include <sched.h>

#include "turns.h"

enum { kPollsBeforeYield = 1000, kLineBytes = 64 };

struct line {
  uint64_t word;
  char rest[kLineBytes - sizeof(uint64_t)];
};

#pragma xmp nodes p[2]

struct line flag : [*] __attribute__((aligned(64)));
struct line* own_flag : [*];
static volatile long seen : [*];

static void give(struct line* to, uint64_t value) {
  __atomic_store_n(&to->word, value, __ATOMIC_RELEASE);
}

static void await(const struct line* own, uint64_t value) {
  for (unsigned polls = 0; __atomic_load_n(&own->word, __ATOMIC_ACQUIRE) != value; polls++)
    if (polls >= kPollsBeforeYield) sched_yield();
}

static void exchange_posts(int me, long turns) {
  for (long turn = 0; turn < turns; turn++) {
    if (me == 0) {
#pragma xmp post(p[1], 0)
#pragma xmp wait(p[1], 0)
    } else {
#pragma xmp wait(p[0], 0)
#pragma xmp post(p[0], 0)
    }
  }
}

static void exchange_flags(int me, struct line* other, uint64_t first, long turns) {
  for (uint64_t turn = first; turn < first + (uint64_t)turns; turn++) {
    if (me == 0) give(other, turn);
    await(&flag, turn);
    if (me == 1) give(other, turn);
  }
}

int main(int argc, char** argv) {
  const long rounds = argument(argc, argv, 1, 25), turns = argument(argc, argv, 2, 20000);
  const int me = xmpc_this_image();
  int is_right = 1;
  own_flag = &flag;
  xmp_sync_all(NULL);
  struct line* const other = own_flag : [1 - me];
  for (long round = 0; round < rounds; round++)
    for (int by_post = 0; by_post < 2; by_post++) {
      xmp_sync_all(NULL);
      const double begin = seconds();
      if (by_post)
        exchange_posts(me, turns);
      else
        exchange_flags(me, other, (uint64_t)(round * turns + 1), turns);
      const double time = seconds() - begin;
      if (me == 0)
        printf("round_trip %s %.6g\n", by_post ? "post" : "flag", time * 1e9 / (double)turns);
    }
  /* A store before a post is seen behind its wait. */
  for (long turn = 1; turn <= 1000; turn++) {
    if (me == 0) {
    seen:
      [1] = turn;
#pragma xmp post(p[1], 1)
#pragma xmp wait(p[1], 1)
    } else {
#pragma xmp wait(p[0], 1)
      is_right &= seen == turn;
#pragma xmp post(p[0], 1)
    }
  }
#pragma xmp reduction(min : is_right)
  return ended(is_right);
}
