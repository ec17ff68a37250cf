/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators.h - communicators of grids, as programs ask for them in C and in Fortran. */
#ifndef NAGAYA_TESTS_BLACS_COMMUNICATORS_H
#define NAGAYA_TESTS_BLACS_COMMUNICATORS_H

/* `count` rounds: grids of one half of the processes each, whose communicator ends with its grid.
 */
void run_communicators(int count, int processes, int own);

#endif
