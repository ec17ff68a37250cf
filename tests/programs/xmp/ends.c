/* SPDX-License-Identifier: BSD-3-Clause */
/* ends.c - the second node comes to the program's end before the others.
 *
 *   ends barrier|bcast|reduction   they wait for it there
 *   ends apart                     they wait for each other alone, for two seconds */
#include <unistd.h>

#include "check.h"

#pragma xmp nodes p[*]
#pragma xmp nodes others[2] = p[2:2]

int main(int argc, char** argv) {
  const char* where = argc > 1 ? argv[1] : "";
  int sum = 1;
#pragma xmp reduction(+ : sum)
  if (own_number() == 1) return 0;
  if (strcmp(where, "barrier") == 0) {
#pragma xmp barrier
  } else if (strcmp(where, "bcast") == 0) {
#pragma xmp bcast(sum) from p[1]
  } else if (strcmp(where, "reduction") == 0) {
#pragma xmp reduction(+ : sum)
  } else if (own_number() >= 2) {
    if (own_number() == 2) sleep(2);
#pragma xmp barrier on others
  }
  return say_ok();
}
