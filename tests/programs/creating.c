/* SPDX-License-Identifier: BSD-3-Clause */
/* creating.c - the choices of a creator of a space for its tasks, and the errors when one is
 * impossible. argv[1]: a folder, or "unbegun", where no task may bind itself; argv[2]: a program
 * that is not position-independent. Started again as a task, with "got" as argv[1], it checks what
 * it got. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <nagaya/task.h>

#include "expect.h"

enum { kWaitMs = 30000 };

static nagaya_space* space;

static int end_of(int task) {
  int status = -1;
  EXPECT_EQUAL(nagaya_task_wait(space, task, &status, kWaitMs), task);
  return status;
}

/* The task's side. */
static int check_what_came(const char* folder) {
  char here[4096], text[6] = "";
  cpu_set_t cpus;
  EXPECT(getcwd(here, sizeof here) != NULL && strcmp(here, folder) == 0);
  EXPECT(getenv("ONLY") != NULL && strcmp(getenv("ONLY"), "this") == 0 && getenv("HOME") == NULL);
  EXPECT_EQUAL(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  EXPECT_EQUAL(CPU_COUNT(&cpus), 1);
  EXPECT_EQUAL(read(0, text, 5), 5);
  EXPECT(strcmp(text, "hello") == 0);
  EXPECT_EQUAL(fcntl(1, F_GETFD), -1);
  EXPECT_EQUAL(write(3, "answer", 6), 6);
  EXPECT_EQUAL(fcntl(4, F_GETFD), -1);
  EXPECT_EQUAL(nagaya_task_self(), 5);
  return 23;
}

static void check_what_a_task_gets(const char* self, const char* folder) {
  int in[2], out[2];
  char text[7] = "";
  cpu_set_t cpus, one;
  EXPECT(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
  EXPECT_EQUAL(write(in[1], "hello", 5), 5);
  EXPECT_EQUAL(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) CPU_SET(cpu, &one);
  char *const argv[] = {"a name", "got", (char*)folder, NULL}, *const envp[] = {"ONLY=this", NULL};
  const int descriptors[] = {in[0], -1, 2, out[1]};
  const nagaya_task_program program = {.path = self,
                                       .argv = argv,
                                       .envp = envp,
                                       .directory = folder,
                                       .descriptors = descriptors,
                                       .descriptor_count = 4,
                                       .cpu_set = &one,
                                       .cpu_set_bytes = sizeof one,
                                       .number = 6};
  int pid = 0;
  const int task = nagaya_task_spawn(space, &program, &pid);
  EXPECT_EQUAL(task, 5);
  EXPECT(pid > 0);
  const int status = end_of(task);
  EXPECT(WIFEXITED(status));
  EXPECT_EQUAL(WEXITSTATUS(status), 23);
  EXPECT_EQUAL(read(out[0], text, 6), 6);
  EXPECT(strcmp(text, "answer") == 0);
}

static int spawn_path(const char* path, const char* directory) {
  const nagaya_task_program program = {.path = path, .directory = directory};
  return nagaya_task_spawn(space, &program, NULL);
}

static void check_refused(int code, int wanted, const char* word) {
  EXPECT_EQUAL(code, wanted);
  if (strstr(nagaya_error_text(), word) == NULL)
    fprintf(stderr, "no %s in: %s\n", word, nagaya_error_text());
  EXPECT(strstr(nagaya_error_text(), word) != NULL);
  EXPECT(strchr(nagaya_error_text(), '\n') == NULL);
}

static void check_refusals(const char* fixed_address_program) {
  check_refused(spawn_path("/no/such/program", NULL), -ENOENT, "/no/such/program");
  check_refused(spawn_path("no-such-program", NULL), -ENOENT, "no-such-program");
  check_refused(spawn_path("/etc/passwd", NULL), -EACCES, "/etc/passwd");
  check_refused(spawn_path(fixed_address_program, NULL), -ENOEXEC, "-pie");
  check_refused(spawn_path("/bin/true", "/no/such/folder"), -ENOENT, "/no/such/folder");
  check_refused(nagaya_task_wait(space, 7, NULL, 0), -ECHILD, "task 7 was not spawned");
  check_refused(nagaya_task_wait(space, -1, NULL, 0), -ECHILD, "no task");
  check_refused(nagaya_task_signal(space, 0, SIGTERM), -ECHILD, "task 0 was not spawned");
  nagaya_space* other = NULL;
  const nagaya_space_options too_many = {.size = sizeof too_many, .capacity = 5000};
  EXPECT_EQUAL(nagaya_space_create(&too_many, &other), -EINVAL);
  EXPECT_EQUAL(nagaya_space_current(&other), -ESRCH);
  EXPECT_EQUAL(nagaya_task_self(), -ESRCH);
}

static void check_waits(void) {
  char* const argv[] = {"sleep", "60", NULL};
  nagaya_task_program program = {.path = "sleep", .argv = argv};
  int tasks[3];
  for (int n = 0; n < 3; ++n) EXPECT_EQUAL(tasks[n] = nagaya_task_spawn(space, &program, NULL), n);
  program.number = 2;
  EXPECT_EQUAL(nagaya_task_spawn(space, &program, NULL), 3); /* 1 is taken: the lowest free one */
  check_refused(nagaya_task_wait(space, -1, NULL, 50), -ETIMEDOUT,
                "no task has ended within 50 ms");
  check_refused(nagaya_task_wait(space, 1, NULL, 50), -ETIMEDOUT,
                "task 1 has not ended within 50 ms");
  EXPECT_EQUAL(nagaya_task_signal(space, 1, SIGTERM), 0);
  EXPECT_EQUAL(nagaya_task_wait(space, -1, NULL, kWaitMs), 1);
  EXPECT_EQUAL(nagaya_task_signal(space, 2, SIGKILL), 0);
  EXPECT_EQUAL(WTERMSIG(end_of(2)), SIGKILL);
  program.number = 0;
  EXPECT_EQUAL(nagaya_task_spawn(space, &program, NULL), 1); /* the lowest that is free */
}

/* Where no task can begin: the ends of the first ones come while the next ones are asked for. */
static int check_what_never_begins(void) {
  enum { kTasks = 20 };
  EXPECT_EQUAL(nagaya_space_create(NULL, &space), 0);
  for (int n = 0; n < kTasks; ++n) EXPECT_EQUAL(spawn_path("/bin/true", NULL), n);
  for (int n = 0; n < kTasks; ++n) {
    EXPECT_EQUAL(end_of(n), W_EXITCODE(125, 0));
    EXPECT(strstr(nagaya_error_text(), "could not bind to processors") != NULL);
  }
  nagaya_space_destroy(space);
  printf("none has begun\n");
  return 0;
}

/* The child has a copy of the creator's socket, and frees its copy of the space: the creator's
 * space stays. */
static pid_t fork_a_child(void) {
  const pid_t child = fork();
  EXPECT(child >= 0);
  if (child > 0) return child;
  nagaya_space_destroy(space);
  for (;;) pause();
}

int main(int argc, char** argv) {
  EXPECT_EQUAL(argc, 3);
  if (strcmp(argv[1], "got") == 0) return check_what_came(argv[2]);
  if (strcmp(argv[1], "unbegun") == 0) return check_what_never_begins();
  EXPECT_EQUAL(nagaya_space_create(NULL, &space), 0);
  check_refusals(argv[2]);
  check_what_a_task_gets(argv[0], argv[1]);
  check_waits();
  const pid_t child = fork_a_child();
  check_refused(nagaya_task_wait(space, 1, NULL, 300), -ETIMEDOUT, "task 1 has not ended");
  nagaya_space_destroy(space); /* ends tasks 0, 1 and 3 */
  nagaya_space_destroy(NULL);
  EXPECT(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  EXPECT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
  printf("created as documented\n");
  return 0;
}
