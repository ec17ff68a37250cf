/* SPDX-License-Identifier: BSD-3-Clause */
/* creator.c - makes one space and does what its input says, a line at a time, answering each:
 *   churn COUNT PROGRAM ...       COUNT tasks one after another, each waited for
 *   spawn COUNT PROGRAM ...       COUNT tasks that stay
 *   spawn-dying COUNT PROGRAM ... COUNT tasks, waited for, that must die of a signal
 *   processes COUNT PROGRAM ...   COUNT ordinary processes that stay; answers with their pids
 *   end                           ends all tasks and processes
 * argv[1]: the space's capacity. The tester measures the host from outside between the lines. */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <nagaya/task.h>

#include "expect.h"

enum { kMost = 4096, kWaitMs = 60000 };

extern char** environ;

static nagaya_space* space;
static int nothing; /* /dev/null: output of tasks must not mix with the answers */
static int tasks[kMost], task_count;
static pid_t processes[kMost];
static int process_count;

static int spawn(char** words) {
  const int descriptors[] = {nothing, nothing, 2};
  const nagaya_task_program program = {
      .path = words[0], .argv = words, .descriptors = descriptors, .descriptor_count = 3};
  const int number = nagaya_task_spawn(space, &program, NULL);
  if (number < 0) {
    fprintf(stderr, "spawn: %s: %s\n", nagaya_strerror(number), nagaya_error_text());
    _exit(1);
  }
  return number;
}

static void churn(int count, char** words) {
  for (int n = 0; n < count; ++n) {
    int status = -1;
    const int number = spawn(words);
    EXPECT_EQUAL(nagaya_task_wait(space, number, &status, kWaitMs), number);
    EXPECT_EQUAL(status, 0);
  }
}

static void spawn_dying(int count, char** words) {
  for (int n = 0; n < count; ++n) {
    int status = 0;
    const int number = spawn(words);
    EXPECT_EQUAL(nagaya_task_wait(space, -1, &status, kWaitMs), number);
    EXPECT(WIFSIGNALED(status));
  }
}

static void spawn_staying(int count, char** words) {
  EXPECT(task_count + count <= kMost);
  for (int n = 0; n < count; ++n) tasks[task_count++] = spawn(words);
}

static void start_processes(int count, char** words) {
  EXPECT(process_count + count <= kMost);
  for (int n = 0; n < count; ++n) {
    EXPECT_EQUAL(posix_spawn(&processes[process_count], words[0], NULL, NULL, words, environ), 0);
    printf("%d ", (int)processes[process_count++]);
  }
}

static void end_all(void) {
  for (int n = 0; n < task_count; ++n)
    EXPECT_EQUAL(nagaya_task_signal(space, tasks[n], SIGKILL), 0);
  for (int n = 0; n < task_count; ++n) {
    int status = 0;
    EXPECT_EQUAL(nagaya_task_wait(space, tasks[n], &status, kWaitMs), tasks[n]);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
  for (int n = 0; n < process_count; ++n) {
    kill(processes[n], SIGKILL);
    waitpid(processes[n], NULL, 0);
  }
  task_count = process_count = 0;
}

static void obey(char* line) {
  char* words[16];
  int count = 0;
  for (char* word = strtok(line, " \n"); word != NULL && count < 15; word = strtok(NULL, " \n"))
    words[count++] = word;
  words[count] = NULL;
  const int number = count > 1 ? atoi(words[1]) : 0;
  if (count == 0) return;
  if (strcmp(words[0], "churn") == 0)
    churn(number, words + 2);
  else if (strcmp(words[0], "spawn") == 0)
    spawn_staying(number, words + 2);
  else if (strcmp(words[0], "spawn-dying") == 0)
    spawn_dying(number, words + 2);
  else if (strcmp(words[0], "processes") == 0)
    start_processes(number, words + 2);
  else if (strcmp(words[0], "end") == 0)
    end_all();
  else
    EXPECT(!"a known word");
}

int main(int argc, char** argv) {
  char line[8192];
  const nagaya_space_options options = {.size = sizeof options,
                                        .capacity = argc > 1 ? (unsigned)atoi(argv[1]) : 0};
  nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_EQUAL(nagaya_space_create(&options, &space), 0);
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    obey(line);
    printf("done\n");
    fflush(stdout);
  }
  end_all();
  nagaya_space_destroy(space);
  printf("destroyed\n");
  return 0;
}
