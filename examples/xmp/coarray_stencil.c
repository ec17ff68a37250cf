/* SPDX-License-Identifier: BSD-3-Clause */
/* coarray_stencil.c - heat in a rod, by coarrays: each image has a part of the rod and writes its
 * outermost points into its neighbours' halos. The directives of the global view are not used.
 *
 *   coarray_stencil [steps]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xmp.h>

#ifndef N
#define N 1000 /* points of an image */
#endif

#pragma xmp nodes p[*]
double rod[N + 2]:[*]; /* rod[0] and rod[N + 1] are the halo */
static double next[N + 2];
double total:[*];

static void exchange(int me, int images) {
  if (me > 0) rod[N + 1]:[me - 1] = rod[1];
  if (me < images - 1) rod[0]:[me + 1] = rod[N];
  if (me > 0) xmp_sync_image(me - 1, NULL);
  if (me < images - 1) xmp_sync_image(me + 1, NULL);
}

int main(int argc, char** argv) {
  const int me = xmpc_this_image(), images = xmp_num_images();
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  for (int i = 1; i <= N; i++) rod[i] = me == 0 && i <= N / 2 ? 1 : 0;
  const double before = N / 2;
  xmp_sync_all(NULL);
  for (int step = 0; step < steps; step++) {
    exchange(me, images);
    if (me == 0) rod[0] = rod[1]; /* no heat leaves at the ends */
    if (me == images - 1) rod[N + 1] = rod[N];
    for (int i = 1; i <= N; i++) next[i] = rod[i] + 0.25 * (rod[i - 1] - 2 * rod[i] + rod[i + 1]);
    for (int i = 1; i <= N; i++) rod[i] = next[i];
    /* The neighbours may write the halo again. */
    if (me > 0) xmp_sync_image(me - 1, NULL);
    if (me < images - 1) xmp_sync_image(me + 1, NULL);
  }
  total = 0;
  for (int i = 1; i <= N; i++) total += rod[i];
  xmp_sync_all(NULL);
  if (me != 0) return 0;
  double sum = 0;
  for (int k = 0; k < images; k++) sum += total:[k];
  const int is_right = fabs(sum - before) < 1e-9 * before;
  printf("coarray_stencil: %d points, %d steps, %d images: %s\n", N * images, steps, images,
         is_right ? "PASS" : "FAIL");
  return is_right ? 0 : 1;
}
