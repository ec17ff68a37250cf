/* SPDX-License-Identifier: BSD-3-Clause */
/* two_libraries.c - two_libraries [PATH]: says its task number by the libnagaya that it is linked
 * with, then by the one at PATH. */
#include <dlfcn.h>
#include <nagaya/task.h>

#include "expect.h"

int main(int argc, char** argv) {
  EXPECT(nagaya_task_self() >= 0);
  if (argc == 1) return 0;
  void* const other = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  EXPECT(other != NULL);
  int (*const self)(void) = (int (*)(void))dlsym(other, "nagaya_task_self");
  EXPECT(self != NULL);
  EXPECT_EQUAL(self(), nagaya_task_self());
  return 0;
}
