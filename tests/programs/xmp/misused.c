/* SPDX-License-Identifier: BSD-3-Clause */
/* misused.c - uses that are known to be wrong when they happen only: misused kept|beyond|unsized. */
#include <string.h>
#include <xmp.h>

#pragma xmp nodes p[*]
#pragma xmp template t[10]
#pragma xmp distribute t[gblock(*)] onto p
static xmp_lock_t locks[2]:[*];

static int loop(void) {
  int sum = 0;
#pragma xmp loop on t[i]
  for (int i = 0; i < 10; i++) sum += i;
  return sum;
}

int main(int argc, char** argv) {
  const int beyond = argc;
  if (strcmp(argv[1], "kept") == 0 && xmpc_this_image() == 1) {
#pragma xmp lock(locks[0]:[0])
  }
  if (strcmp(argv[1], "beyond") == 0) {
#pragma xmp lock(locks[beyond]:[0])
  }
  return strcmp(argv[1], "unsized") == 0 ? loop() : 0;
}
