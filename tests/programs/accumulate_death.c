/* SPDX-License-Identifier: BSD-3-Clause */
/* accumulate_death.c - two tasks add to one counter, and one is killed while it holds the lock: the
 * other one goes on. Without arguments: their creator. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <nagaya/llcl.h>
#include <nagaya/task.h>

#include "expect.h"

enum { kSurvivor, kDying, kWaitMs = 20000, kAddsOfTheDying = 2 };

static volatile sig_atomic_t is_over;

static void end(int number) {
  (void)number;
  is_over = 1;
}

static void add_one(int64_t* counter) {
  const int64_t one = 1;
  const nagaya_llcl_accumulation add = {.type = NAGAYA_ELEMENT_INT64,
                                        .operation = NAGAYA_REDUCE_SUM,
                                        .count = 1,
                                        .target = counter,
                                        .origin = &one};
  EXPECT_EQUAL(nagaya_llcl_accumulate(&add), 0);
}

/* Adds until it is told of the other's end, and once more then. */
static int survive(void) {
  static int64_t counter;
  signal(SIGUSR1, end);
  EXPECT_EQUAL(nagaya_task_publish("counter", &counter), 0);
  int64_t own = 0;
  for (int was_over = 0; !was_over; ++own) {
    was_over = is_over;
    add_one(&counter);
  }
  EXPECT_EQUAL(counter, own + kAddsOfTheDying);
  return 0;
}

static int die(void) {
  int64_t* counter;
  EXPECT_EQUAL(nagaya_task_lookup(kSurvivor, "counter", kWaitMs, (void**)&counter), 0);
  for (;;) add_one(counter); /* stops in the third call */
}

static char state_of(int pid) {
  char path[64], line[512] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE* const file = fopen(path, "r");
  EXPECT(file != NULL && fgets(line, sizeof line, file) != NULL);
  fclose(file);
  return strrchr(line, ')')[2];
}

static int spawn(nagaya_space* space, const char* self, char* act, char** environment) {
  char* const words[] = {(char*)self, act, NULL};
  const nagaya_task_program program = {.path = self, .argv = words, .envp = environment};
  int pid = 0;
  EXPECT(nagaya_task_spawn(space, &program, &pid) >= 0);
  return pid;
}

int main(int argc, char** argv) {
  if (argc == 2) return strcmp(argv[1], "survive") == 0 ? survive() : die();
  nagaya_space* space;
  EXPECT(nagaya_space_create(NULL, &space) >= 0);
  spawn(space, argv[0], "survive", NULL);
  char* environment[] = {"NAGAYA_STOP_AT=stripe.held:3", NULL};
  const int dying = spawn(space, argv[0], "die", environment);
  for (int waited_ms = 0; state_of(dying) != 'T'; waited_ms += 10) {
    EXPECT(waited_ms < kWaitMs);
    usleep(10000);
  }
  usleep(50000); /* the survivor waits for the lock */
  int status = 0;
  EXPECT_EQUAL(nagaya_task_signal(space, kDying, SIGKILL), 0);
  EXPECT_EQUAL(nagaya_task_wait(space, kDying, &status, kWaitMs), kDying);
  EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQUAL(nagaya_task_signal(space, kSurvivor, SIGUSR1), 0);
  EXPECT_EQUAL(nagaya_task_wait(space, kSurvivor, &status, kWaitMs), kSurvivor);
  EXPECT_EQUAL(status, 0);
  nagaya_space_destroy(space);
  return 0;
}
