/* SPDX-License-Identifier: BSD-3-Clause */
/* own_identity.c - prints how the program sees itself: argv[0], /proc/self/exe, the short name of
 * the process, its arguments, and its environment. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char path[4096], name[17] = "";
  const ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 1);
  path[bytes > 0 ? bytes : 0] = 0;
  prctl(PR_GET_NAME, name);
  printf("argv0 %s\nexe %s\nname %s\n", argv[0], path, name);
  for (int n = 1; n < argc; ++n) printf("argument %s\n", argv[n]);
  const char* variable = getenv("NAGAYA_TEST_VARIABLE");
  printf("variable %s\n", variable != NULL ? variable : "(none)");
  return 0;
}
