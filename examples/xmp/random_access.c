/* SPDX-License-Identifier: BSD-3-Clause */
/* random_access.c - HPC Challenge's RandomAccess by coarrays: updates of random words of a table that
 * is distributed over all images, in updates per second (GUPS: 10^9 of them).
 *
 *   xmpcc -O3 random_access.c -o random_access
 *   nagaya run -n 4 ./random_access
 *
 * The benchmark's rules: a table of a power of two of words, four updates a word; the address and the
 * value of an update come from one sequence of random numbers; an image looks at most 1,024 updates
 * ahead; at most 1 % of the words may be wrong at the end.
 *
 * Two images that update one word at once could lose an update. Here none is lost: an image sorts
 * its updates by the image of their word, and goes from image to image in turns. In each turn every image
 * is at another one's words. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "figures.h"

#ifndef N
#define N (1 << 20) /* words of an image */
#endif
#define AHEAD 1024
#define POLYNOMIAL 7
#define PERIOD 1317624576693539401

#pragma xmp nodes p[*]
static uint64_t table[N]:[*];
static long wrong:[*];
static long words, words_of_image; /* of all images, of one */

/* The n-th number is x to the n modulo x^64 + x^2 + x + 1, with coefficients of one bit. */
static uint64_t next(uint64_t number) {
  return number << 1 ^ ((int64_t)number < 0 ? POLYNOMIAL : 0);
}

/* Returns the n-th number of the sequence: squares and multiplies by x, from the highest bit of n on. */
static uint64_t number_at(int64_t n) {
  uint64_t square[64], number = 1;
  n %= PERIOD;
  for (int i = 0; i < 64; i++) {
    square[i] = number;
    number = next(next(number));
  }
  number = n == 0 ? 1 : 2;
  for (int bit = n == 0 ? -1 : 62 - __builtin_clzll((uint64_t)n); bit >= 0; bit--) {
    uint64_t squared = 0;
    for (int i = 0; i < 64; i++)
      if (number >> i & 1) squared ^= square[i];
    number = n >> bit & 1 ? next(squared) : squared;
  }
  return number;
}

static int image_of(uint64_t number) {
  return (int)((number & (words - 1)) / words_of_image);
}

/* Sorts by image: the numbers of image k become sorted[first[k]] .. sorted[first[k + 1] - 1]. `first` has
 * images + 2 elements. */
static void sort_by_image(const uint64_t* numbers, int count, int images, uint64_t* sorted, int* first) {
  memset(first, 0, sizeof(int) * (images + 2));
  for (int n = 0; n < count; n++) first[image_of(numbers[n]) + 2]++;
  for (int k = 0; k < images; k++) first[k + 2] += first[k + 1];
  for (int n = 0; n < count; n++) sorted[first[image_of(numbers[n]) + 1]++] = numbers[n];
}

static void update_image(int image, const uint64_t* number, const uint64_t* end) {
  for (; number < end; number++)
    table[(*number & (words - 1)) % words_of_image]:[image] ^= *number;
}

/* Updates `first` .. `last` - 1 of the sequence. In turn n image me is at the words of image me + n,
 * where the image on its right was in the turn before. */
static void update(int64_t first, int64_t last, int64_t rounds, int me, int images) {
  static uint64_t numbers[AHEAD], sorted[AHEAD];
  int* const of_image = malloc(sizeof(int) * (images + 2));
  const int left = (me + images - 1) % images, right = (me + 1) % images;
  uint64_t number = number_at(first);
  for (int64_t round = 0; round < rounds; round++, first += AHEAD) {
    const int64_t rest = last - first;
    const int count = rest < 0 ? 0 : rest < AHEAD ? (int)rest : AHEAD;
    for (int n = 0; n < count; n++) numbers[n] = number = next(number);
    sort_by_image(numbers, count, images, sorted, of_image);
    for (int turn = 0; turn < images; turn++) {
      const int image = (me + turn) % images;
      update_image(image, sorted + of_image[image], sorted + of_image[image + 1]);
      if (images == 1) continue;
#pragma xmp post(p[left], 1)
#pragma xmp wait(p[right], 1)
    }
  }
  free(of_image);
}

/* Makes all updates of the caller's words again, which undoes them, and counts the wrong words. */
static long count_wrong(int me) {
  const int64_t first = me * words_of_image, end = first + words_of_image;
  uint64_t number = number_at(0);
  for (int64_t n = 0; n < 4 * words; n++) {
    number = next(number);
    const int64_t word = (int64_t)(number & (words - 1));
    if (word >= first && word < end) table[word - first] ^= number;
  }
  long count = 0;
  for (int64_t word = first; word < end && word < words; word++)
    count += table[word - first] != (uint64_t)word;
  return count;
}

int main(void) {
  const int me = xmpc_this_image(), images = xmp_num_images();
  for (words = 1; 2 * words <= (long)N * images;) words *= 2;
  words_of_image = (words + images - 1) / images;
  for (long n = 0; n < words_of_image; n++) table[n] = me * words_of_image + n;
  const int64_t share = (4 * words + images - 1) / images, first = me * share;
  xmp_sync_all(NULL);
  double time = -seconds();
  update(first, first + share < 4 * words ? first + share : 4 * words, (share + AHEAD - 1) / AHEAD, me, images);
  xmp_sync_all(NULL);
  time += seconds();
  wrong = count_wrong(me);
  xmp_sync_all(NULL);
  if (me != 0) return 0;
  long sum = 0;
  for (int k = 0; k < images; k++) sum += wrong:[k];
  printf("random_access: %ld words, %d images: %.4f GUPS, %ld words are wrong, %s\n", words, images,
         4e-9 * words / time, sum, sum == 0 ? "PASS" : "FAIL");
  return sum != 0;
}
