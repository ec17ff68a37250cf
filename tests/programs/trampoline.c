/* SPDX-License-Identifier: BSD-3-Clause */
/* trampoline.c - takes the address of nested functions (a GNU extension), whose trampolines lie on
 * an executable stack: of the main thread and of another. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int apply(int (*function)(int), int argument) {
  return function(argument);
}

static void* add_seven(void* number) {
  volatile int seven = 7;
  int add(int n) {
    return n + seven;
  }
  *(int*)number = apply(add, *(int*)number);
  return NULL;
}

int main(void) {
  int number = 1;
  pthread_t thread;
  add_seven(&number);
  if (pthread_create(&thread, NULL, add_seven, &number) != 0) return 1;
  pthread_join(thread, NULL);
  printf("sum %d\n", number);
  return 0;
}
