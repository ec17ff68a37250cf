/* SPDX-License-Identifier: BSD-3-Clause */
/* coarrays.c - declarations of coarrays and accesses to elements of other images. */
#include "check.h"
#include "coarrays.h"

struct pair {
  int first;
  double second[3];
};

static int x:[*], row[10]:[*];
double grid[3][4]:[*];
long counters[2]:[*];
struct pair pairs[4]:[*];
int initialised:[*] = 7;
static int wide:[2][*];
int by_directive[5];
#pragma xmp coarray by_directive : [*]
#define REMOTE(name, k) name:[k]

static int evaluated;
static int once(int image) {
  evaluated++;
  return image;
}

static void elements(int me, int images) {
  const int next = (me + 1) % images, before = (me + images - 1) % images;
  x = me;
  row[3] = 10 * me;
  xmp_sync_all(NULL);
  EXPECT_EQUAL(x:[next], next);
  EXPECT_EQUAL(x:[x:[next]], next);
  EXPECT_EQUAL(row[x:[before] * 0 + 3]:[next] + x:[before], 10 * next + before);
  EXPECT_EQUAL(REMOTE(row[3], next), 10 * next);
  EXPECT_EQUAL(initialised:[next], 7);
  EXPECT_EQUAL((int)sizeof(row:[next]), 10 * (int)sizeof(int));
  __typeof__(row:[next]) own_row = {0};
  __typeof__(x:[next]) seen = x:[next];
  EXPECT_EQUAL(seen + (int)sizeof own_row, next + 10 * (int)sizeof(int));
  xmp_sync_all(NULL);
  grid[1][me % 4]:[next] = me + 0.5;
  EXPECT(grid[1][me % 4]:[next] == me + 0.5);
  xmp_sync_all(NULL);
  EXPECT(grid[1][before % 4] == before + 0.5);
  by_directive[2]:[next] = me;
  xmp_sync_all(NULL);
  EXPECT_EQUAL(by_directive[2], before);
}

static void operators(int me, int images) {
  const int next = (me + 1) % images;
  long* const own = counters;
  own[0] = 5, own[1] = 1;
  xmp_sync_all(NULL);
  EXPECT_EQUAL((int)(counters[0]:[once(next)] += 3), 8);
  EXPECT_EQUAL((int)counters[0]:[next]++, 8);
  EXPECT_EQUAL((int)--counters[1]:[next], 0);
  EXPECT_EQUAL(evaluated, 1);
  /* The value of an assignment is that of its left side. */
  EXPECT((x:[next] = 3.75) == 3);
  int copy;
  copy = x:[next] = counters[0]:[next] > 8 ? (int)counters[0]:[next] : -1;
  EXPECT_EQUAL(copy, 9);
  xmp_sync_all(NULL);
  EXPECT_EQUAL((int)own[0], 9);
  EXPECT_EQUAL((int)own[1], 0);
  EXPECT_EQUAL(x, 9);
}

/* Loops in which the image stays the same, and in which it changes. */
static void loops(int me, int images) {
  const int next = (me + 1) % images, before = (me + images - 1) % images, none = me - 1;
  int right = 0;
  x = me;
  xmp_sync_all(NULL);
  for (int i = 0; i < 10; i++) row[i]:[next] = 10 * me + i;
  xmp_sync_all(NULL);
  for (int i = 0; i < 10; i++) right += row[i] == 10 * before + i;
  for (int k = 0; k < images; k++)
    for (int i = 0; i < 10; i++) right += row[i]:[k] == 10 * ((k + images - 1) % images) + i;
  for (int i = 0, k = me; i < images; i++, k = (k + 1) % images) right += x:[k] == k;
  for (int i = 0; i < 10; i++)
    if (none >= 0) right += x:[none] == none;
  EXPECT_EQUAL(right, 10 + 10 * images + images + (me > 0 ? 10 : 0));
  xmp_sync_all(NULL);
  for (int i = 0; i < 10; i++) {
    row[i]:[next] += i;
    row[i]:[next]++;
  }
  xmp_sync_all(NULL);
  for (int i = 0; i < 10; i++) EXPECT_EQUAL(row[i], 10 * before + 2 * i + 1);
}

static void structures(int me, int images) {
  const int next = (me + 1) % images, before = (me + images - 1) % images;
  const struct pair given = {me, {me, me + 1, me + 2}};
  xmp_sync_all(NULL);
  pairs[1]:[next] = given;
  pairs[2].first:[next] = me;
  pairs[2]:[next].second[2] = -me;
  xmp_sync_all(NULL);
  EXPECT(pairs[1].first == before && pairs[1].second[2] == before + 2);
  EXPECT(pairs[2].first == before && pairs[2].second[2] == -before);
  const struct pair seen = pairs[1]:[next];
  EXPECT(seen.second[1] == me + 1);
  EXPECT(pairs[2]:[next].second[2] == -me);
}

static void codimensions(int me, int images) {
  wide = me;
  xmp_sync_all(NULL);
  for (int k = 0; k < images; k++) EXPECT_EQUAL(wide:[k % 2][k / 2], k);
  xmp_sync_all(NULL);
}

#pragma xmp nodes all[*]
static int of_all:[*];
#pragma xmp coarray on all :: of_all

static void tasks(int me, int images) {
  if (images < 3) return;
  const int first = 0;
  x = of_all = me;
  xmp_sync_all(NULL);
  for (int turn = 0; turn < 2; turn++) {
#pragma xmp task on all[1:2]
    for (int i = 0; i < 2; i++) EXPECT_EQUAL(x:[first], 1);
    EXPECT_EQUAL(x:[first], 0);
  }
#pragma xmp task on all[1:2]
  {
    EXPECT_EQUAL(xmp_num_images(), 2);
    EXPECT_EQUAL(x:[0], 1); /* images of the task */
    EXPECT_EQUAL(x:[1], 2);
    EXPECT_EQUAL(of_all:[0], 0); /* of all nodes */
    const int index[] = {0, 2};
    int current[2];
    xmp_get_image_index(2, index, current, xmp_desc_of(all));
    EXPECT(current[0] == -1 && current[1] == 1);
    xmp_sync_all(NULL);
    x:[1 - xmpc_this_image()] = 100 + me;
    xmp_sync_all(NULL);
    EXPECT_EQUAL(x, 100 + 3 - me);
  }
  EXPECT_EQUAL(of_all:[images - 1], images - 1);
#pragma xmp image(all)
  xmp_sync_all(NULL);
}

static void atoms(int me, int images) {
  x = 0;
  xmp_sync_all(NULL);
  if (me == 0) xmp_atomic_define(x:[images - 1], 5);
  if (me == images - 1)
    for (int value = 0; value != 5;) xmp_atomic_ref(&value, x);
  xmp_sync_all(NULL);
  int value;
  xmp_atomic_ref(&value, x:[images - 1]);
  EXPECT_EQUAL(value, 5);
  xmp_sync_all(NULL);
}

static void synchronisations(int me, int images) {
  int status = -1, others[64];
  for (int step = 0; step < 20; step++) {
    /* A token goes round: each image waits for the one before it. */
    if (me != 0) xmp_sync_image(me - 1, &status);
    if (me != 0) EXPECT_EQUAL(x:[me - 1], step);
    x = step;
    if (me != images - 1) xmp_sync_image(me + 1, NULL);
    int count = 0;
    for (int k = 0; k < images; k++)
      if (k != me) others[count++] = k;
    if (me % 2 == 0 && count != 0) others[count++] = others[0]; /* named twice, it counts once */
    xmp_sync_images(count, others, &status);
    EXPECT_EQUAL(status, XMP_STAT_SUCCESS);
    EXPECT_EQUAL(x:[images - 1], step);
    xmp_sync_images_all(&status);
  }
  xmp_sync_memory(&status);
  EXPECT_EQUAL(status, XMP_STAT_SUCCESS);
}

int main(void) {
  const int me = xmpc_this_image(), images = xmp_num_images();
  elements(me, images);
  operators(me, images);
  loops(me, images);
  structures(me, images);
  codimensions(me, images);
  tasks(me, images);
  atoms(me, images);
  synchronisations(me, images);
  put_elsewhere((me + 1) % images, me);
  xmp_sync_all(NULL);
  EXPECT_EQUAL(common[2], (me + images - 1) % images);
  return say_ok();
}
