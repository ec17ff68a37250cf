/* SPDX-License-Identifier: BSD-3-Clause */
/* posts.c - post and wait: by node and tag, by node, by any; the order with coarrays. */
#include "check.h"

#pragma xmp nodes p[*]
#define ROUNDS 200

static int box:[*];

static void ring(int me, int images) {
  const int next = (me + 1) % images, before = (me + images - 1) % images;
  for (int round = 0; round < ROUNDS; round++) {
    const int tag = round % 7 == 0 ? -round : round; /* few tags are words, the others messages */
    box:[next] = 10 * round + me;
#pragma xmp post(p[next], tag)
#pragma xmp wait(p[before], tag)
    EXPECT_EQUAL(box, 10 * round + before);
#pragma xmp post(p[before], 3)
#pragma xmp wait(p[next], 3)
  }
}

static void any(int me, int images) {
  for (int k = 0; k < images; k++) {
#pragma xmp post(p(k + 1), 2)
#pragma xmp post(p[k], 1 << 20)
  }
  for (int k = 0; k < images; k++) {
#pragma xmp wait(p[k])
#pragma xmp wait(p(k + 1))
  }
  xmp_sync_all(NULL);
  for (int k = 0; k < images; k++) {
#pragma xmp post(p[k], k)
#pragma xmp post(p[k], 77)
  }
  for (int k = 0; k < 2 * images; k++) {
#pragma xmp wait
  }
  (void)me;
}

int main(void) {
  const int me = xmpc_this_image(), images = xmp_num_images();
  ring(me, images);
  xmp_sync_all(NULL);
  any(me, images);
  xmp_sync_all(NULL);
  return say_ok();
}
