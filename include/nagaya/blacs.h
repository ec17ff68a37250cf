/* SPDX-License-Identifier: BSD-3-Clause */
/* blacs.h - counts of libnagaya-blacs, beside the BLACS (docs/blacs.md).
 * A function of the BLACS that a forked child calls ends the child by one line and exit code 1; but
 * blacs_exit, blacs_gridexit, blacs_freebuff and free_blacs_system_handle do nothing there, since
 * the child's exit handlers may call them. */
#ifndef NAGAYA_BLACS_H
#define NAGAYA_BLACS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Long point-to-point messages and long broadcasts that the calling process has sent since it
 * began, and redistributions in which it has taken part. */
typedef struct blacs_sends {
  uint64_t direct; /* from matrix to matrix */
  uint64_t copied; /* from a copy: the receiver had not called yet */
  uint64_t broadcasts_direct;
  uint64_t broadcasts_copied;      /* some receivers had not called yet */
  uint64_t redistributions_direct; /* p?gemr2d, p?trmr2d in one node; others: ScaLAPACK's own */
} blacs_sends;

/* Stores the counts into *out. Thread safety: none, as in the whole BLACS. */
void blacs_count_sends(blacs_sends* out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
