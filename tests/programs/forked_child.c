/* SPDX-License-Identifier: BSD-3-Clause */
/* forked_child.c - a child that a task forks has a copy of the space and is no task; nor is a
 * program that a task executes when others may know its memory. */
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "meeting.h"

static void check_detached(void) {
  void* address = NULL;
  nagaya_space* space;
  nagaya_range ranges[2];
  EXPECT_EQUAL(nagaya_task_self(), -ESRCH);
  EXPECT_EQUAL(nagaya_task_count(), -ESRCH);
  EXPECT_EQUAL(nagaya_task_partition(0, ranges), -ESRCH);
  EXPECT_EQUAL(nagaya_task_owner(&address), -ESRCH);
  EXPECT_EQUAL(nagaya_task_publish("name", &address), -ESRCH);
  EXPECT_EQUAL(nagaya_task_lookup(0, "name", 0, &address), -ESRCH);
  EXPECT_EQUAL(nagaya_space_current(&space), -ESRCH);
  EXPECT(nagaya_heap_alloc(1) == NULL);
}

static void check_child(pid_t child) {
  int status;
  EXPECT(child > 0);
  EXPECT_EQUAL(waitpid(child, &status, 0), child);
  EXPECT_EQUAL(status, 0);
}

static pid_t by_libc(void) {
  return fork();
}

/* No handler of pthread_atfork() runs, as in _Fork(). */
static pid_t by_kernel(void) {
  return (pid_t)syscall(SYS_fork);
}

static void fork_detached(pid_t (*make_child)(void)) {
  static volatile int changed;
  const pid_t child = make_child();
  if (child == 0) {
    check_detached();
    const pid_t grandchild = make_child();
    if (grandchild != 0) check_child(grandchild);
    check_detached();
    changed = 1; /* in the copy only */
    _exit(0);
  }
  check_child(child);
  EXPECT_EQUAL(changed, 0);
}

int main(int argc, char** argv) {
  if (argc > 1) { /* executed by a task's child */
    EXPECT_EQUAL(getauxval(AT_NAGAYA), 0);
    check_detached();
    return 0;
  }
  EXPECT(getauxval(AT_NAGAYA) != 0);
  fork_detached(by_libc); /* which asks before its parent has */
  EXPECT(nagaya_task_self() >= 0);
  fork_detached(by_libc);
  fork_detached(by_kernel);
  EXPECT_EQUAL(nagaya_task_publish("name", &argc), 0);
  /* From now on others may know this task's memory, and what its children execute is no task. */
  EXPECT_EQUAL(nagaya_task_publish("met", argv), 0);
  const pid_t child = fork();
  if (child == 0) {
    execl(argv[0], argv[0], "executed", (char*)NULL);
    _exit(1);
  }
  check_child(child);
  EXPECT(nagaya_task_self() >= 0);
  printf("children detached\n");
  return 0;
}
