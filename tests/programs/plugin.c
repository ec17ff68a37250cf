/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin.c - a library to be loaded at run time: a global, a thread-local variable, a function of
 * the program that loads it, constructor and destructor. */
#include <stdio.h>

int host_value(void); /* the program's */

int plugin_global = 11;
__thread int plugin_of_thread = 12;

__attribute__((constructor)) static void begin(void) {
  ++plugin_global;
}
__attribute__((destructor)) static void end(void) {
  printf("plugin unloaded\n");
}

int plugin_sum(void) {
  return plugin_global + plugin_of_thread + host_value();
}
