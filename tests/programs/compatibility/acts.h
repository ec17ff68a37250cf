/* SPDX-License-Identifier: BSD-3-Clause */
/* One program, many acts: argv[1] chooses. An act prints what a program sees of its system in words
 * that are the same in every run (no pid, no address), so that output can be compared. */
#ifndef COMPATIBILITY_ACTS_H
#define COMPATIBILITY_ACTS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Act {
  const char* name;
  void (*perform)(void);
} Act;

/* Ends the program when an expectation fails, saying which. */
#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      printf("line %d: %s: %s\n", __LINE__, #condition, errno ? strerror(errno) : "no"); \
      exit(3);                                                                           \
    }                                                                                    \
  } while (0)

static int perform_chosen(const Act* acts, int argc, char** argv) {
  for (const Act* act = acts; argc > 1 && act->name != NULL; ++act) {
    if (strcmp(act->name, argv[1]) != 0) continue;
    errno = 0;
    act->perform();
    printf("%s done\n", act->name);
    return 0;
  }
  fprintf(stderr, "no such act\n");
  return 2;
}

#endif
