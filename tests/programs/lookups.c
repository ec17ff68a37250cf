/* SPDX-License-Identifier: BSD-3-Clause */
/* lookups.c - finding what another task publishes: at once, later, never, in a task that has not
 * started yet, in one that has ended, in one that does not exist. A creator that is a task itself
 * (task 0 of its own space) starts the others. */
#include <stdlib.h>
#include <time.h>

#include "meeting.h"

static int value = 42;

static long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int spawn_self(nagaya_space* space, const char* path, const char* part, int number) {
  char* const argv[] = {(char*)path, (char*)part, NULL};
  const nagaya_task_program program = {.path = path, .argv = argv, .number = number + 1};
  return nagaya_task_spawn(space, &program, NULL);
}

static void check_absent(void) {
  void* address = NULL;
  EXPECT_EQUAL(nagaya_task_lookup(0, "nothing", 0, &address), -ENOENT);
  const long before = milliseconds();
  EXPECT_EQUAL(nagaya_task_lookup(0, "nothing", 200, &address), -ETIMEDOUT);
  EXPECT(milliseconds() - before >= 199);
  EXPECT_EQUAL(nagaya_task_lookup(-1, "nothing", 0, &address), -EINVAL);
  EXPECT_EQUAL(nagaya_task_lookup(1 << 20, "nothing", 0, &address), -EINVAL);
}

static void check_names(void) {
  char name[65];
  void* address = NULL;
  memset(name, 'n', 64);
  name[64] = 0;
  EXPECT_EQUAL(nagaya_task_publish(name, &value), -ENAMETOOLONG);
  name[63] = 0;
  EXPECT_EQUAL(nagaya_task_publish(name, &value), 0);
  EXPECT_EQUAL(nagaya_task_lookup(0, name, 0, &address), 0);
  EXPECT(address == &value);
  EXPECT_EQUAL(nagaya_task_publish(name, &address), 0); /* replaces */
  EXPECT_EQUAL(nagaya_task_lookup(0, name, 0, &address), 0);
  EXPECT(address == &address);
  EXPECT_EQUAL(nagaya_task_publish(name, NULL), 0); /* withdraws */
  EXPECT_EQUAL(nagaya_task_lookup(0, name, 0, &address), -ENOENT);
}

/* Task 0: `early` waits for task 2, which does not exist yet; `late` is task 2. */
static void check_other_tasks(const char* path) {
  nagaya_space* space;
  int status, early, late;
  void* address = NULL;
  EXPECT_EQUAL(nagaya_space_current(&space), 0);
  EXPECT_EQUAL(early = spawn_self(space, path, "early", 1), 1);
  memory_of(1, "waiting");
  usleep(100000);
  EXPECT_EQUAL(late = spawn_self(space, path, "late", 2), 2);
  EXPECT_EQUAL(nagaya_task_wait(space, early, &status, MEETING_LIMIT_MS), 1);
  EXPECT_EQUAL(status, 0);
  EXPECT_EQUAL(*(int*)memory_of(2, "value"), 43);
  EXPECT_EQUAL(nagaya_task_lookup(2, "never", 0, &address), -ENOENT);
  EXPECT_EQUAL(nagaya_task_publish("may end", &value), 0);
  /* It ends, without publishing, while this waits. */
  EXPECT_EQUAL(nagaya_task_lookup(2, "never", MEETING_LIMIT_MS, &address), -EOWNERDEAD);
  EXPECT_EQUAL(nagaya_task_wait(space, late, &status, MEETING_LIMIT_MS), 2);
  EXPECT_EQUAL(status, 0);
  EXPECT_EQUAL(nagaya_task_wait(space, late, &status, 0), -ECHILD);
  nagaya_space_destroy(space);
}

int main(int argc, char** argv) {
  const char* part = argc > 1 ? argv[1] : "first";
  if (strcmp(part, "early") == 0) {
    EXPECT_EQUAL(nagaya_task_publish("waiting", &value), 0);
    EXPECT_EQUAL(*(int*)memory_of(2, "value"), 43);
  } else if (strcmp(part, "late") == 0) {
    value = 43;
    EXPECT_EQUAL(nagaya_task_publish("value", &value), 0);
    memory_of(0, "may end");
  } else {
    check_absent();
    check_names();
    check_other_tasks(argv[0]);
    printf("lookups as documented\n");
  }
  return 0;
}
