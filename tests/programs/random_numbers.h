/* SPDX-License-Identifier: BSD-3-Clause */
/* random_numbers.h - the same at all ranks that begin with the same state. */
#ifndef NAGAYA_TESTS_RANDOM_NUMBERS_H
#define NAGAYA_TESTS_RANDOM_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

uint64_t mixed(uint64_t seed, uint64_t number);
uint32_t draw(uint64_t* state, uint32_t below);
void fill(uint64_t seed, unsigned char* to, size_t bytes);

#endif
