/* SPDX-License-Identifier: BSD-3-Clause */
/* macros.c - macros in directives, directives in macros. */
#include "check.h"

#define ROWS 24
#define LAST (ROWS - 1)
#define DISTRIBUTION block
#define FIELD field
#define NODES p
#define TEXT(directive) _Pragma(#directive)
#define ON_ALL_ROWS TEXT(xmp loop on t[i])
#define FOR_ALL_ROWS(body)                                       \
  do {                                                           \
    _Pragma("xmp loop on t[i]") for (int i = 0; i < ROWS; i++) { \
      body;                                                      \
    }                                                            \
  } while (0)

#pragma xmp nodes NODES[*]
#pragma xmp template t[ROWS]
#pragma xmp distribute t[DISTRIBUTION] onto NODES
static int FIELD[ROWS];
#pragma xmp align FIELD[i] with t[i]
_Pragma("xmp shadow field[1]")

    int main(void) {
  ON_ALL_ROWS
  for (int i = 0; i <= LAST; i++) FIELD[i] = i;
  TEXT(xmp reflect(field))
  FOR_ALL_ROWS(EXPECT_EQUAL(field[i], i); if (i > 0) EXPECT_EQUAL(field[i - 1], i - 1));
  int sum = 0;
#define OPERATION +
#pragma xmp loop on t[i] \
    reduction(OPERATION : sum)
  for (int i = 0; i <= LAST; i++) sum += FIELD[i];
  EXPECT_EQUAL(sum, ROWS * LAST / 2);
#ifdef _XCALABLEMP
  EXPECT(_XCALABLEMP > 0);
#else
  EXPECT(!"_XCALABLEMP is not defined");
#endif
  return say_ok();
}
