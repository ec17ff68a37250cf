/* SPDX-License-Identifier: BSD-3-Clause */
/* paused.c - three pauses, in which somebody may look at the job from outside, reflects between the
 * second and the third; one before them opens the ways to the neighbours. `paused REFLECTS`: the first
 * node names the pause and waits for a line. */
#include <stdlib.h>

#include "check.h"

#define N 64

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
static double field[N][N];
#pragma xmp align field[i][*] with t[i]
#pragma xmp shadow field[1][0]

static void pause_here(const char* what) {
#pragma xmp barrier
#pragma xmp task on p[0] nocomm
  {
    printf("%s\n", what);
    fflush(stdout);
    EXPECT(getchar() != EOF);
  }
#pragma xmp barrier
}

int main(int argc, char** argv) {
  EXPECT(argc == 2);
#pragma xmp reflect(field)
  pause_here("first");
  pause_here("second");
  for (int n = 0; n < atoi(argv[1]); n++) {
#pragma xmp loop on t[i]
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) field[i][j] = n + i + j;
#pragma xmp reflect(field)
#pragma xmp loop on t[i]
    for (int i = 1; i < N - 1; i++)
      for (int j = 0; j < N; j++) EXPECT(field[i - 1][j] + 2 == field[i + 1][j]);
  }
  pause_here("third");
  return say_ok();
}
