/* SPDX-License-Identifier: BSD-3-Clause */
/* privacy.c - state that stays a task's own although the memory is common: globals, errno,
 * thread-local variables, signal handlers, directory, umask, descriptors. Task 0 changes its own;
 * every task then finds its own as it left it. Argument: a folder that exists. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "meeting.h"

enum { kOwnDescriptor = 77 };

static int global = 5;
static __thread int of_thread = 6;
static volatile sig_atomic_t handled;

static void on_signal(int signal) {
  handled = signal;
}

static void change_own(int self, const char* folder) {
  global += self;
  of_thread += self;
  if (self != 0) return;
  EXPECT_EQUAL(chdir(folder), 0);
  umask(0);
  signal(SIGUSR2, on_signal);
  EXPECT_EQUAL(dup2(0, kOwnDescriptor), kOwnDescriptor);
  setenv("NAGAYA_TEST_OWN", "0", 1);
}

static void check_globals(int self, int count) {
  EXPECT_EQUAL(global, 5 + self);
  EXPECT_EQUAL(of_thread, 6 + self);
  EXPECT_EQUAL(nagaya_task_owner(&global), self);
  EXPECT_EQUAL(nagaya_task_owner(&of_thread), self);
  EXPECT_EQUAL(nagaya_task_owner(&errno), self);
  for (int other = 0; other < count; ++other) {
    if (other == self) continue;
    EXPECT(memory_of(other, "global") != &global);
    EXPECT(memory_of(other, "of_thread") != &of_thread);
    EXPECT(memory_of(other, "errno") != &errno);
  }
}

static void check_files(int self, const char* start, const char* folder) {
  char here[4096];
  EXPECT(getcwd(here, sizeof here) != NULL);
  EXPECT(strcmp(here, self == 0 ? folder : start) == 0);
  EXPECT_EQUAL(fcntl(kOwnDescriptor, F_GETFD) >= 0, self == 0);
  EXPECT_EQUAL(umask(022), self == 0 ? 0 : 027);
}

static void check_handlers(int self) {
  struct sigaction action;
  EXPECT_EQUAL(sigaction(SIGUSR2, NULL, &action), 0);
  EXPECT_EQUAL(action.sa_handler == on_signal, self == 0);
  if (self != 0) return;
  raise(SIGUSR2);
  EXPECT_EQUAL(handled, SIGUSR2);
}

int main(int argc, char** argv) {
  char start[4096];
  const int self = nagaya_task_self();
  EXPECT(argc == 2 && getcwd(start, sizeof start) != NULL);
  umask(027);
  nagaya_task_publish("global", &global);
  nagaya_task_publish("of_thread", &of_thread);
  nagaya_task_publish("errno", &errno);
  meet();
  change_own(self, argv[1]);
  errno = 100 + self;
  meet();
  EXPECT_EQUAL(errno, 100 + self);
  check_globals(self, nagaya_task_count());
  check_files(self, start, argv[1]);
  check_handlers(self);
  EXPECT_EQUAL(getenv("NAGAYA_TEST_OWN") != NULL, self == 0);
  meet();
  printf("private in %d\n", self);
  return 0;
}
