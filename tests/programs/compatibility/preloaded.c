/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's own library for LD_PRELOAD: counts calls and hands them on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

static int calls;

int puts(const char* text) {
  int (*next)(const char*);
  *(void**)&next = dlsym(RTLD_NEXT, "puts");
  ++calls;
  return next(text);
}

__attribute__((destructor)) static void report(void) {
  /* In the commands that start the program there was none. */
  if (calls > 0) printf("puts was called %d times\n", calls);
}
