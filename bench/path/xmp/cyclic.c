/* SPDX-License-Identifier: BSD-3-Clause */
/* cyclic.c - loops along cyclic dimensions beside loops that a programmer writes by hand, with the
 * same index arithmetic, over the same memory. Arguments: [ROUNDS [TURNS]] */
#include "turns.h"

enum { kOwn = 1 << 15, kWidth = 8 }; /* numbers of each node */

double dealt[2 * kOwn], dealt_from[2 * kOwn], by_eights[2 * kOwn], by_eights_from[2 * kOwn];
#pragma xmp nodes p[2]
#pragma xmp template t[2 * kOwn]
#pragma xmp distribute t[cyclic] onto p
#pragma xmp align dealt[i] with t[i]
#pragma xmp align dealt_from[i] with t[i]
#pragma xmp template t8[2 * kOwn]
#pragma xmp distribute t8[cyclic(kWidth)] onto p
#pragma xmp align by_eights[i] with t8[i]
#pragma xmp align by_eights_from[i] with t8[i]

/* The first index and the end of the loops, neither of which begins a run; the number of nodes. */
static long first = 3, end = 2 * kOwn - 5, nodes;

static void dealt_by_xmp(double factor) {
#pragma xmp loop on t[i]
  for (long i = first; i < end; i++) dealt[i] = factor * dealt_from[i] + (double)i;
}

static void dealt_by_hand(long me, double* to, const double* from, double factor) {
  for (long n = (first - me + nodes - 1) / nodes; nodes * n + me < end; n++) {
    const long i = nodes * n + me;
    to[n] = factor * from[n] + (double)i;
  }
}

static void by_eights_by_xmp(double factor) {
#pragma xmp loop on t8[i]
  for (long i = first; i < end; i++) by_eights[i] = factor * by_eights_from[i] + (double)i;
}

static void by_eights_by_hand(long me, double* to, const double* from, double factor) {
  for (long run = 0; run < kOwn / kWidth; run++) {
    const long low = (nodes * run + me) * kWidth, behind = low - run * kWidth;
    const long run_end = low + kWidth < end ? low + kWidth : end;
    for (long i = low > first ? low : first; i < run_end; i++)
      to[i - behind] = factor * from[i - behind] + (double)i;
  }
}

static double* block_of(xmp_desc_t array) {
  void* block;
  xmp_array_laddr(array, &block);
  return block;
}

static int is_written(const double* block, const double* from, double factor, long me, long width) {
  int is_right = 1;
  for (long n = 0; n < kOwn; n++) {
    const long i = (n / width * 2 + me) * width + n % width;
    is_right &= block[n] == (i < first || i >= end ? 0 : factor * from[n] + (double)i);
  }
  return is_right;
}

static void clear(double* block) {
  for (long n = 0; n < kOwn; n++) block[n] = 0;
}

int main(int argc, char** argv) {
  const long rounds = argument(argc, argv, 1, 25), turns = argument(argc, argv, 2, 200);
  const long me = xmpc_node_num();
  nodes = xmp_num_nodes();
  double* const to[2] = {block_of(xmp_desc_of(dealt)), block_of(xmp_desc_of(by_eights))};
  double* const from[2] = {block_of(xmp_desc_of(dealt_from)),
                           block_of(xmp_desc_of(by_eights_from))};
  int is_right = 1;
  for (long n = 0; n < kOwn; n++) from[0][n] = from[1][n] = (double)n;
  for (long round = 0; round < rounds; round++)
    for (int way = 0; way < 4; way++) {
      const int in_eights = way / 2, by_xmp = way % 2;
      clear(to[in_eights]);
#pragma xmp barrier
      const double begin = seconds();
      for (long turn = 0; turn < turns; turn++) {
        if (!in_eights && by_xmp) dealt_by_xmp((double)turn);
        if (!in_eights && !by_xmp) dealt_by_hand(me, to[0], from[0], (double)turn);
        if (in_eights && by_xmp) by_eights_by_xmp((double)turn);
        if (in_eights && !by_xmp) by_eights_by_hand(me, to[1], from[1], (double)turn);
        use_memory();
      }
      const double time = seconds() - begin;
      is_right &= is_written(to[in_eights], from[in_eights], (double)(turns - 1), me,
                             in_eights ? kWidth : 1);
      if (me == 0)
        printf("%s %s %.6g\n", in_eights ? "cyclic_8" : "cyclic", by_xmp ? "XMP" : "hand-written",
               time * 1e6 / (double)turns);
    }
#pragma xmp reduction(min : is_right)
  return ended(is_right);
}
