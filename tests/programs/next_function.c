/* SPDX-License-Identifier: BSD-3-Clause */
/* next_function.c - a library that two links of a program have: each has how_many_behind(), which
 * asks for the next one by dlsym(RTLD_NEXT). libc knows the asking library by the call's return
 * address, which a dlsym() before libc's must leave as it is. */
#include <dlfcn.h>
#include <stddef.h>

int how_many_behind(void) {
  int (*const next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "how_many_behind");
  return next != NULL ? 1 + next() : 0;
}
