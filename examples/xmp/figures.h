/* SPDX-License-Identifier: BSD-3-Clause */
/* figures.h - the output of the examples: the number of nodes, the time, a checksum. */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdint.h>
#include <string.h>
#include <time.h>

#ifdef _XCALABLEMP
#include <xmp.h>
#else /* another compiler: the pragmas are comments, the program is serial */
static inline int xmp_all_num_nodes(void) {
  return 1;
}
static inline int xmp_all_node_num(void) {
  return 1;
}
#endif

#ifndef _XCALABLEMP
#include <sys/mman.h>
/* Asks for huge pages, as XMP's runtime does for large blocks: so a comparison of an XMP program and
 * the serial one, or OpenMP's, does not measure their pages. */
static inline void use_huge_pages(void* begin, size_t bytes) {
  const uintptr_t page = 4096, first = ((uintptr_t)begin + page - 1) / page * page;
  const uintptr_t end = (uintptr_t)begin + bytes;
  if (first < end) madvise((void*)first, end - first, MADV_HUGEPAGE);
}
#endif

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the part of a checksum for `number` at `place` of a field. The sum of all parts, modulo
 * 2^64, does not depend on their order: equal sums mean fields that are equal bit for bit. */
static inline uint64_t part_of_checksum(double number, long place) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  bits ^= (uint64_t)place * 0x9e3779b97f4a7c15;
  return (bits ^ bits >> 31) * 0xbf58476d1ce4e5b9;
}

#endif
