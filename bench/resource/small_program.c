/* SPDX-License-Identifier: BSD-3-Clause */
/* small_program.c - the least program that can be started: says on stdout that it runs (its first
 * argument, one byte), and ends when stdin does. */
#include <unistd.h>

int main(int argc, char** argv) {
  char byte = argc > 1 ? argv[1][0] : '.';
  if (write(1, &byte, 1) != 1) return 1;
  while (read(0, &byte, 1) > 0) {
  }
  return 0;
}
