/* SPDX-License-Identifier: BSD-3-Clause */
/* coarrays.h - a coarray of two files. */
extern int common[4]:[*];
void put_elsewhere(int image, int value);
