/* SPDX-License-Identifier: BSD-3-Clause */
/* image_locks.c - contended locks, attempts, and the status of wrong uses. */
#include "check.h"

#define TIMES 100

xmp_lock_t lock:[*], locks[3]:[*];
static long sum:[*];
static int holders:[*];

int main(void) {
  const int me = xmpc_this_image(), images = xmp_num_images(), last = images - 1;
  for (int i = 0; i < TIMES; i++) {
#pragma xmp lock(lock:[last])
    EXPECT_EQUAL(holders:[last]++, 0);
    sum:[last] = sum:[last] + me;
    holders:[last] = 0;
    xmp_sync_memory(NULL);
#pragma xmp unlock(lock:[last])
  }
  xmp_sync_all(NULL);
  EXPECT(sum:[last] == (long)TIMES * images * (images - 1) / 2);

  int status, acquired;
#pragma xmp lock(locks[1]) stat(status)
  EXPECT_EQUAL(status, XMP_STAT_SUCCESS);
#pragma xmp lock(locks[1]) stat(status)
  EXPECT_EQUAL(status, XMP_STAT_LOCKED);
#pragma xmp lock(locks[2]) acquired_lock(acquired) stat(status)
  EXPECT(acquired && status == XMP_STAT_SUCCESS);
#pragma xmp unlock(locks[0]) stat(status)
  EXPECT_EQUAL(status, XMP_STAT_UNLOCKED);
  xmp_sync_all(NULL);
  if (images > 1) {
    const int next = (me + 1) % images;
#pragma xmp lock(locks[1]:[next]) acquired_lock(acquired)
    EXPECT(!acquired);
#pragma xmp unlock(locks[2]:[next]) stat(status)
    EXPECT_EQUAL(status, XMP_STAT_LOCKED_OTHER_IMAGE);
  }
  xmp_sync_all(NULL);
#pragma xmp unlock(locks[1])
#pragma xmp unlock(locks[2]) stat(status)
  EXPECT_EQUAL(status, XMP_STAT_SUCCESS);
  xmp_sync_all(NULL);
  if (me == 0) {
#pragma xmp lock(locks[1]:[last]) acquired_lock(acquired)
    EXPECT(acquired);
#pragma xmp unlock(locks[1]:[last])
  }
  xmp_sync_all(NULL);
  return say_ok();
}
