/* SPDX-License-Identifier: BSD-3-Clause */
/* wrapped.c - a rank's program behind a wrapper. It says its name, and "rank RANK of SIZE, task
 * NUMBER" once all ranks have met; in the program without MPI the rank is the task. Words:
 *   anew WORD...     first executes itself again, with the rest of the words, by /proc/self/exe
 *   by-name WORD...  the same by argv[0]
 *   spawned WORD...  runs itself with the rest of the words as a child (posix_spawn), and ends so
 *   system           when it has met the others: runs itself alone, by a shell
 *   linger           when it has met the others: stays until it is ended
 *   alone [linger]   says only its task; stays */
#include <nagaya/task.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#ifdef WITH_MPI
#include <mpi.h>
#else
#include "meeting.h"
#endif

extern char** environ;

static void say(const char* name, int rank, int size) {
  char line[4096];
  const int length = snprintf(line, sizeof line, "%s: rank %d of %d, task %d\n", name, rank, size,
                              nagaya_task_self());
  EXPECT(write(STDOUT_FILENO, line, (size_t)length) == length);
}

static void run_as_child(char** argv) {
  pid_t pid;
  int status;
  EXPECT_EQUAL(posix_spawn(&pid, argv[0], NULL, NULL, argv, environ), 0);
  EXPECT(waitpid(pid, &status, 0) == pid);
  exit(WEXITSTATUS(status));
}

static void linger(void) {
  for (;;) pause();
}

/* Ends this process or returns. */
static void act_first(char** argv) {
  if (argv[1] == NULL) return;
  char** const rest = argv + 1;
  const char* const act = argv[1];
  char* const name = argv[0];
  if (strcmp(act, "alone") == 0) {
    say(name, -1, -1);
    if (argv[2] != NULL) linger();
    exit(0);
  }
  rest[0] = name;
  if (strcmp(act, "anew") == 0) execv("/proc/self/exe", rest);
  if (strcmp(act, "by-name") == 0) execv(name, rest);
  if (strcmp(act, "spawned") == 0) run_as_child(rest);
  rest[0] = (char*)act;
}

static void act_last(char** argv) {
  char command[4096];
  if (argv[1] == NULL) return;
  if (strcmp(argv[1], "linger") == 0) linger();
  snprintf(command, sizeof command, "'%s' alone", argv[0]);
  if (strcmp(argv[1], "system") == 0) EXPECT_EQUAL(system(command), 0);
}

int main(int argc, char** argv) {
  int rank = nagaya_task_self(), size = nagaya_task_count();
  act_first(argv);
#ifdef WITH_MPI
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
#else
  (void)argc;
  if (rank >= 0) meet();
#endif
  say(argv[0], rank, size);
  act_last(argv);
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  return 0;
}
