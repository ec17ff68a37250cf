/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_numbers.h"

#include <string.h>

/* The finalizer of splitmix64. */
uint64_t mixed(uint64_t seed, uint64_t number) {
  uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint32_t draw(uint64_t* state, uint32_t below) {
  *state += 0x9e3779b97f4a7c15u;
  return (uint32_t)((mixed(*state, 0) >> 32) % below);
}

void fill(uint64_t seed, unsigned char* to, size_t bytes) {
  for (size_t n = 0; n < bytes; n += sizeof(uint64_t)) {
    const uint64_t word = mixed(seed, n);
    memcpy(to + n, &word, bytes - n < sizeof word ? bytes - n : sizeof word);
  }
}
