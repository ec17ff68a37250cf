/* SPDX-License-Identifier: BSD-3-Clause */
#include "ending.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t got_signal;
static volatile int* volatile nowhere = (volatile int*)8;

static void on_signal(int signal) {
  got_signal = signal;
}

static int die_of(int signal) {
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  /* A real fault, not a signal that pretends to be one. */
  if (signal == SIGSEGV) *nowhere = 0;
  if (signal == SIGABRT) abort();
  kill(getpid(), signal);
  pause();
  return 99;
}

/* Recurses until the stack is used up: every call stores into a page of its own. */
static int overflow_stack(int depth) {
  volatile char page[4096];
  page[0] = (char)depth;
  return depth < 0 ? 0 : overflow_stack(depth + 1) + page[0];
}

/* Says "took" after each piece of so many bytes. 0: at the end alone. */
static int read_input(long piece) {
  static unsigned char buffer[65536];
  long bytes = 0, sum = 0, pieces = 0;
  ssize_t got;
  while ((got = read(0, buffer, sizeof buffer)) > 0) {
    bytes += got;
    for (; piece != 0 && bytes / piece > pieces; ++pieces) puts("took");
    fflush(stdout);
    for (ssize_t n = 0; n < got; ++n) sum += buffer[n];
  }
  printf("read %ld sum %ld\n", bytes, sum);
  return got == 0 ? 0 : 98;
}

static int write_output(long bytes) {
  for (long line = 0; line < bytes / 64; ++line) printf("%063ld\n", line);
  return 0;
}

/* Looks again and again: an MPI's thread may take the signal, and nothing wakes this one then. */
static int await_signal(void) {
  enum { kLookUs = 10000 };
  signal(SIGUSR1, on_signal);
  printf("ready\n");
  fflush(stdout);
  while (got_signal == 0) usleep(kLookUs);
  printf("signalled\n");
  return 0;
}

static _Noreturn void linger(void) {
  printf("ready\n");
  fflush(stdout);
  for (;;) pause();
}

int act(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : "0";
  if (strcmp(name, "exit") == 0) return atoi(argument);
  if (strcmp(name, "kill") == 0) return die_of(atoi(argument));
  if (strcmp(name, "overflow") == 0) return overflow_stack(0);
  if (strcmp(name, "read") == 0) return read_input(0);
  if (strcmp(name, "read-in-pieces") == 0)
    return puts("ready"), fflush(stdout), read_input(atol(argument));
  if (strcmp(name, "write") == 0) return write_output(atol(argument));
  if (strcmp(name, "signal") == 0) return await_signal();
  if (strcmp(name, "linger") == 0) linger();
  return -1;
}
