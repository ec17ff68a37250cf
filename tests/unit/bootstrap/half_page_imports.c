/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that imports a function; its imports and its variables lie on one page. */
#include <unistd.h>

int half_page_variable = 1;

int half_page_import(void) {
  return getppid();
}
