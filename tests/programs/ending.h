/* SPDX-License-Identifier: BSD-3-Clause */
/* ending.h - acts of a process that its launcher must pass on: end in every way, read, write,
 * wait for a signal. Programs with and without MPI use them. */
#ifndef NAGAYA_TESTS_ENDING_H
#define NAGAYA_TESTS_ENDING_H

/* Does what argv[1] names:
 *   exit CODE      ends with CODE          kill SIGNAL    dies of SIGNAL
 *   read           reads its input to the end, prints how many bytes and their sum
 *   read-in-pieces BYTES   the same; prints "ready" first, and "took" after so many bytes each
 *   write BYTES    writes lines of 64 bytes
 *   signal         prints "ready", waits for SIGUSR1, prints "signalled"
 *   linger         prints "ready", then stays until it is ended
 * Returns the exit code, -1 when it knows no such act. */
int act(int argc, char** argv);

#endif
