/* SPDX-License-Identifier: BSD-3-Clause */
/* loads_plugin.c - dlopen, dlsym and dlclose, again and again; argv[1] is the library. */
#include <dlfcn.h>
#include <stdlib.h>

#include "expect.h"

__attribute__((visibility("default"))) int host_value(void) {
  return 100;
}

int main(int argc, char** argv) {
  EXPECT_EQUAL(argc, 2);
  for (int n = 0; n < 3; ++n) {
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) fprintf(stderr, "%s\n", dlerror());
    EXPECT(library != NULL);
    int (*sum)(void) = (int (*)(void))dlsym(library, "plugin_sum");
    EXPECT(sum != NULL);
    printf("sum %d\n", sum());
    EXPECT_EQUAL(dlclose(library), 0);
  }
  EXPECT(dlopen("no-such-library.so", RTLD_NOW) == NULL);
  return 0;
}
