// SPDX-License-Identifier: BSD-3-Clause
// python_launcher.c - a position-independent Python, for distributions whose python3 is not.
//
// argv[0] is the Python that the user named; its real name (python3.11) tells the library
// (libpython3.11.so.1.0), which runs the interpreter just as that program would.
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  char real[PATH_MAX], library[PATH_MAX + 64];
  if (realpath(argv[0], real) == NULL) {
    fprintf(stderr, "nagaya: %s: no such Python\n", argv[0]);
    return 127;
  }
  char* slash = strrchr(real, '/');
  *slash = '\0';
  snprintf(library, sizeof library, "%s/../lib/lib%s.so.1.0", real, slash + 1);
  // Global: extension modules look for the interpreter's symbols in the main program.
  void* python = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (python == NULL) python = dlopen(strrchr(library, '/') + 1, RTLD_NOW | RTLD_GLOBAL);
  if (python == NULL) {
    fprintf(stderr,
            "nagaya: %s is not position-independent and its library is missing (%s); install the "
            "package of lib%s or use `nagaya run --separate`\n",
            argv[0], dlerror(), slash + 1);
    return 126;
  }
  int (*run)(int, char**) = (int (*)(int, char**))dlsym(python, "Py_BytesMain");
  if (run == NULL) {
    fprintf(stderr, "nagaya: %s: %s\n", library, dlerror());
    return 126;
  }
  return run(argc, argv);
}
