/* SPDX-License-Identifier: BSD-3-Clause */
/* counts_next.c - is linked with two libraries of next_function.c, and looks functions up in ways
 * that a dlsym() before libc's must leave alone.
 *   counts_next LIBRARY...   of own_blacs.c: what their handles lead to, they call themselves */
#include <dlfcn.h>
#include <stdio.h>

#include "expect.h"

int how_many_behind(void);

static void check_gridinfo(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  EXPECT(library != NULL);
  void* (*const called)(void) = (void* (*)(void))dlsym(library, "gridinfo_that_is_called");
  EXPECT(dlsym(library, "Cblacs_gridinfo") == called());
  EXPECT(dlerror() == NULL);
}

int main(int argc, char** argv) {
  for (int n = 1; n < argc; ++n) check_gridinfo(argv[n]);
  EXPECT_EQUAL(how_many_behind(), 1);
  void* const libc = dlopen("libc.so.6", RTLD_NOW);
  dlerror();
  EXPECT(dlsym(libc, "no_such_function") == NULL && dlerror() != NULL);
  EXPECT(dlsym(libc, "getpid") == (void*)getpid && dlerror() == NULL);
  EXPECT(dlsym(RTLD_DEFAULT, "getpid") == (void*)getpid && dlerror() == NULL);
  puts("one behind");
  return 0;
}
