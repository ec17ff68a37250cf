/* SPDX-License-Identifier: BSD-3-Clause */
/* blacs.h - what libnagaya-blacs tells of itself, beside the BLACS (docs/blacs.md). */
#ifndef NAGAYA_BLACS_H
#define NAGAYA_BLACS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Long messages of two that the calling process has sent, since it has begun. */
typedef struct blacs_sends {
  uint64_t direct; /* from matrix to matrix */
  uint64_t copied; /* from a copy: the receiver was not there */
} blacs_sends;

/* Thread safety: as the BLACS have, none. */
void blacs_count_sends(blacs_sends* out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
