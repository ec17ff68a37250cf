/* SPDX-License-Identifier: BSD-3-Clause */
/* expect.h - how the test programs say what went wrong: one line, exit code 1. */
#ifndef NAGAYA_TESTS_EXPECT_H
#define NAGAYA_TESTS_EXPECT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* _exit: a task that fails must not wait for anybody in its exit handlers. */
#define EXPECT(condition)                                                               \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      fprintf(stderr, "%s:%d: not so: %s (errno %s)\n", __FILE__, __LINE__, #condition, \
              strerror(errno));                                                         \
      _exit(1);                                                                         \
    }                                                                                   \
  } while (0)

#define EXPECT_EQUAL(got, wanted)                                                                \
  do {                                                                                           \
    const long long got_ = (long long)(got), wanted_ = (long long)(wanted);                      \
    if (got_ != wanted_) {                                                                       \
      fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, got_, wanted_); \
      _exit(1);                                                                                  \
    }                                                                                            \
  } while (0)

#endif
