/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints which copy of libwhere it was linked with at run time, and from which libc it runs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "where.h"

static int print_own_library(struct dl_phdr_info* object, size_t size, void* folder) {
  (void)size;
  const char* name = strstr(object->dlpi_name, folder);
  if (name != NULL) printf("loaded %s\n", name);
  return 0;
}

int main(int argc, char** argv) {
  printf("where: %s\n", where());
  if (argc > 1) dl_iterate_phdr(print_own_library, argv[1]);
  return 0;
}
