/* SPDX-License-Identifier: BSD-3-Clause */
/* outside.c - accesses outside of the process's block, one for each word, by the node of the second
 * argument alone; for 2 nodes and --check. Line numbers count in the test. */
#include <stdlib.h>
#include <string.h>
#include "check.h"

#define N 8
#define M 3

#pragma xmp nodes p[*]
#pragma xmp template t[N]
#pragma xmp distribute t[block] onto p
static int u[N][M], narrow[N];
#pragma xmp align u[i][*] with t[i]
#pragma xmp shadow u[1:0][0]
#pragma xmp align narrow[i] with t[i]

static int read_formal(int array[N][M], int i) {
#pragma xmp align array[i][*] with t[i]
#pragma xmp shadow array[1:0][0]
  return array[i][0];
}

static int visit(const char *word, int first) {
  if (strcmp(word, "element") == 0) return u[N - 1][0];
  if (strcmp(word, "shadow") == 0) return u[first - 1][0] + u[first + 4][0] + narrow[first + 4];
  if (strcmp(word, "column") == 0) return u[first][first + M];
  if (strcmp(word, "nested") == 0) u[narrow[first] + first][narrow[first + N]] = 1;
  if (strcmp(word, "address") == 0) return *&u[first - 2][1];
  if (strcmp(word, "formal") == 0) return read_formal(u, first + N);
  const int before = u[first - 1][0]; /* of the first node a shadow that nobody fills */
  return u[first + 3][M - 1] + (first == 0 ? 1 : before) + (int)(sizeof u[1000] / sizeof u[0][0]);
}

int main(int argc, char **argv) {
  int first = N;
#pragma xmp loop on t[i]
  for (int i = N - 1; i >= 0; i--) {
    first = i;
    for (int j = 0; j < M; j++) u[i][j] = 1;
  }
#pragma xmp reflect(u)
  const int node = first == 0 ? 1 : 2;
  if (argc < 3 || node == atoi(argv[2])) EXPECT_EQUAL(visit(argc > 1 ? argv[1] : "", first), 2 + M);
  return say_ok();
}
