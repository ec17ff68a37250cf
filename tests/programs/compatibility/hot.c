/* SPDX-License-Identifier: BSD-3-Clause */
/* Work for profilers and debuggers: a function of the program that takes most of the time, and some
 * of libc's. With an argument it does not end: "wait" ticks, "spin" works on, "crash" crashes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile unsigned result;

__attribute__((noinline)) unsigned hot_function(unsigned rounds) {
  unsigned state = 1;
  for (unsigned n = 0; n < rounds; ++n) state = state * 1664525 + (state >> 3);
  return state;
}

static int compare(const void* a, const void* b) {
  const unsigned one = *(const unsigned*)a, two = *(const unsigned*)b;
  return (one > two) - (one < two);
}

__attribute__((noinline)) unsigned sort_some(void) {
  enum { kNumbers = 50000 };
  unsigned* numbers = malloc(kNumbers * sizeof *numbers);
  for (unsigned n = 0; n < kNumbers; ++n) numbers[n] = n * 2654435761u;
  qsort(numbers, kNumbers, sizeof *numbers, compare);
  const unsigned middle = numbers[kNumbers / 2];
  free(numbers);
  return middle;
}

__attribute__((noinline)) void tick(unsigned number) {
  result = number;
  usleep(5000);
}

__attribute__((noinline)) void wait_or_crash(const char* what) {
  if (strcmp(what, "crash") == 0) *(volatile int*)16 = 1;
  while (strcmp(what, "spin") == 0) result += hot_function(1000000);
  for (unsigned n = 0; strcmp(what, "wait") == 0; ++n) tick(n);
}

int main(int argc, char** argv) {
  for (int n = 0; n < 20; ++n) result += hot_function(5000000) + sort_some();
  puts("worked");
  fflush(stdout);
  if (argc > 1) wait_or_crash(argv[1]);
  return 0;
}
