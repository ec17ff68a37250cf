/* SPDX-License-Identifier: BSD-3-Clause */
/* formal.h - directives in a header: two units see the same nodes, template and array. */
#ifndef NAGAYA_TESTS_XMP_FORMAL_H
#define NAGAYA_TESTS_XMP_FORMAL_H

#define N 30
#define M 4

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p

extern double shared[N][M];
#pragma xmp align shared[i][*] with t[i]
#pragma xmp shadow shared[1][0]

/* The arguments are distributed like `shared`. */
void add(double to[N][M], double from[N][M], double times);
void add_to_shared(double number);
extern long total, *const place_of_total;
double sum_of_all_but_the_last_row(double of[N][M]);

#endif
