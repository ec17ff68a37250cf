/* SPDX-License-Identifier: BSD-3-Clause */
/* coarray_sections.c - random sections of coarrays, beside loops that do the same with elements; sections
 * of plain arrays. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define A 7
#define B 5
#define C 9

int cube[A][B][C]:[*];
int seen[A][B][C]:[*];
static int wanted[A][B][C];
static double line[40]:[*];
static int at:[*];
typedef double real;

struct section {
  int base, length, step;
};

static struct section random_section(int extent) {
  struct section one;
  one.base = rand() % extent;
  one.step = 1 + rand() % 3;
  one.length = 1 + rand() % ((extent - 1 - one.base) / one.step + 1);
  return one;
}

/* A section of the same length elsewhere in an equal dimension. */
static struct section moved(struct section one, int extent) {
  one.step = 1 + rand() % one.step;
  one.base = rand() % (extent - (one.length - 1) * one.step);
  return one;
}

static int value_of(int image, int i, int j, int k) {
  return 1000 * image + (i * B + j) * C + k;
}

static void fill(int me) {
  for (int i = 0; i < A; i++)
    for (int j = 0; j < B; j++)
      for (int k = 0; k < C; k++) {
        cube[i][j][k] = value_of(me, i, j, k);
        seen[i][j][k] = wanted[i][j][k] = -1;
      }
}

static void check(void) {
  EXPECT(memcmp(seen, wanted, sizeof wanted) == 0);
}

static void random_sections(int me, int images) {
  const struct section a = random_section(A), b = random_section(B), c = random_section(C);
  const struct section d = moved(a, A), e = moved(b, B), f = moved(c, C);
  const int next = (me + 1) % images, before = (me + images - 1) % images;
  fill(me);
  xmp_sync_all(NULL);
  /* Read from the next image. */
  seen[d.base:d.length:d.step][e.base:e.length:e.step][f.base:f.length:f.step] =
      cube[a.base:a.length:a.step][b.base:b.length:b.step][c.base:c.length:c.step]:[next];
  for (int i = 0; i < a.length; i++)
    for (int j = 0; j < b.length; j++)
      for (int k = 0; k < c.length; k++)
        wanted[d.base + i * d.step][e.base + j * e.step][f.base + k * f.step] = value_of(
            next, a.base + i * a.step, b.base + j * b.step, c.base + k * c.step);
  check();
  fill(me);
  xmp_sync_all(NULL);
  /* Write to it a plane, and rows as a whole. */
  seen[d.base][e.base:e.length:e.step][f.base:f.length:f.step]:[next] =
      cube[a.base][b.base:b.length:b.step][c.base:c.length:c.step];
  seen[A - 1][:][:]:[next] = cube[0][:][:];
  xmp_sync_all(NULL);
  for (int j = 0; j < b.length; j++)
    for (int k = 0; k < c.length; k++)
      wanted[d.base][e.base + j * e.step][f.base + k * f.step] =
          value_of(before, a.base, b.base + j * b.step, c.base + k * c.step);
  for (int j = 0; j < B; j++)
    for (int k = 0; k < C; k++) wanted[A - 1][j][k] = value_of(before, 0, j, k);
  check();
  xmp_sync_all(NULL);
}

static void special_sections(int me, int images) {
  const int next = (me + 1) % images, before = (me + images - 1) % images;
  double own[40];
  for (int i = 0; i < 40; i++) line[i] = own[i] = me + i;
  xmp_sync_all(NULL);
  /* One value to all elements. */
  line[10:5:2]:[next] = me;
  line[30:2]:[next] = line[0]:[next];
  xmp_sync_all(NULL);
  for (int i = 10; i < 20; i++) EXPECT(line[i] == (i % 2 == 0 ? before : me + i));
  EXPECT(line[30] == me && line[31] == me);
  xmp_sync_all(NULL);
  /* Overlapping sections of the caller's own image, from image to image, backwards. */
  line[1:39]:[me] = line[0:39];
  EXPECT(line[1] == me && line[30] == me + 29);
  for (int i = 0; i < 40; i++) line[i] = own[i];
  xmp_sync_all(NULL);
  own[0:40] = line[39:40:-1]:[next];
  for (int i = 0; i < 40; i++) EXPECT(own[i] == next + 39 - i);
  xmp_sync_all(NULL);
  if (me == 0) line[0:3]:[images - 1] = line[20:3]:[next];
  xmp_sync_all(NULL);
  if (me == images - 1) EXPECT(line[2] == (images > 1 ? 1 : 0) + 22);
  double* const pointer = own;
  pointer[4:2] = line[8:2]:[me];
  EXPECT(own[5] == me + 9);
  /* An image that is read from an image; elements of a type by another name. */
  real typed[40];
  at = me;
  xmp_sync_all(NULL);
  typed[6:2] = line[8:2]:[at:[next]];
  EXPECT(typed[6] == next + 8 && typed[7] == next + 9);
}

static void plain_sections(int length) {
  int a[12], grid[4][5];
  real rows[3][length];
  for (int i = 0; i < 12; i++) a[i] = i;
  a[1:length] = a[0:length]; /* as if the right side was copied first */
  for (int i = 0; i < 12; i++) EXPECT_EQUAL(a[i], i >= 1 && i <= length ? i - 1 : i);
  grid[:][:] = 7;
  grid[1:2][2:3] = grid[0][0] - 4;
  grid[3][:] = a[7:5];
  for (int j = 0; j < 5; j++) {
    EXPECT_EQUAL(grid[0][j], 7);
    EXPECT_EQUAL(grid[1][j] + grid[2][j], j < 2 ? 14 : 6);
    EXPECT_EQUAL(grid[3][j], 7 + j);
  }
  rows[0:2][0:length:2] = 0.5;
  rows[2][:] = rows[1][:];
  EXPECT(rows[2][0] == 0.5 && rows[1][length - 1] == 0.5);
}

int main(void) {
  const int me = xmpc_this_image(), images = xmp_num_images();
  srand(4711); /* the same sections at all images */
  for (int round = 0; round < 60; round++) random_sections(me, images);
  special_sections(me, images);
  plain_sections(5);
  xmp_sync_all(NULL);
  return say_ok();
}
