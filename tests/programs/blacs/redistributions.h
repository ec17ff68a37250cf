/* SPDX-License-Identifier: BSD-3-Clause */
/* redistributions.h - p?gemr2d and p?trmr2d between random grids, blocks and places. */
#ifndef NAGAYA_TESTS_BLACS_REDISTRIBUTIONS_H
#define NAGAYA_TESTS_BLACS_REDISTRIBUTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* All processes call it. The job ends if an item is wrong, or one is changed that should not be.
 * Whether the part had any items. */
bool redistribute(uint64_t seed, int context_of_all, int processes);

#endif
