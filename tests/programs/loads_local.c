// SPDX-License-Identifier: BSD-3-Clause
// loads_local.c - loads a library, in a scope of its own, and calls its main().
//
//   loads_local LIBRARY [ARGUMENT...]
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*const start)(int, char**) =
      library != NULL ? (int (*)(int, char**))dlsym(library, "main") : NULL;
  if (start == NULL) {
    fprintf(stderr, "loads_local: %s\n", argc > 1 ? dlerror() : "no library is named");
    return 1;
  }
  return start(argc - 1, argv + 1);
}
