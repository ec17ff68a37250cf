// SPDX-License-Identifier: BSD-3-Clause
// Acts of programs whose processes and threads end in unusual order.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acts.h"

static volatile int over;

static void* map_and_unmap(void* unused) {
  (void)unused;
  while (!over) {
    void* at = mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(at, 1 << 16);
  }
  return NULL;
}

// The children find every lock free, whatever the other threads were doing.
static void fork_while_mapping(void) {
  pthread_t threads[2];
  int good = 0;
  for (int n = 0; n < 2; ++n) EXPECT(pthread_create(&threads[n], NULL, map_and_unmap, NULL) == 0);
  for (int n = 0; n < 40; ++n) {
    pid_t child = fork();
    if (child == 0) {
      char* block = malloc(64 << 20);
      if (block == NULL) _exit(1);
      block[0] = block[(64 << 20) - 1] = 1;
      free(block);
      _exit(0);
    }
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child);
    good += status == 0;
  }
  over = 1;
  for (int n = 0; n < 2; ++n) pthread_join(threads[n], NULL);
  printf("children ended well: %d\n", good);
}

// The child works on with the memory that it has when its parent is gone.
static void child_outlives(void) {
  char* block = malloc(8 << 20);
  memset(block, 'x', 8 << 20);
  fflush(stdout);
  if (fork() != 0) return;
  setsid();
  usleep(300000);
  char* more = malloc(8 << 20);
  memcpy(more, block, 8 << 20);
  printf("outlived with %c\n", more[(8 << 20) - 1]);
  fflush(stdout);
  _exit(0);
}

static void* speak_last(void* unused) {
  (void)unused;
  usleep(50000);
  printf("the main thread has ended\n");
  return NULL;
}

static void main_thread_ends(void) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, speak_last, NULL) == 0);
  pthread_exit(NULL);
}

static void* execute(void* unused) {
  (void)unused;
  execlp("echo", "echo", "executed by a thread", (char*)NULL);
  return NULL;
}

// Another program in this process's place, from a thread, with other threads at work.
static void thread_executes(void) {
  pthread_t threads[2];
  EXPECT(pthread_create(&threads[0], NULL, map_and_unmap, NULL) == 0);
  EXPECT(pthread_create(&threads[1], NULL, execute, NULL) == 0);
  for (;;) pause();
}

static void say(void) {
  printf("at exit\n");
}

static void end_from_thread(void) {
  pthread_t threads[2];
  EXPECT(atexit(say) == 0);
  EXPECT(pthread_create(&threads[0], NULL, map_and_unmap, NULL) == 0);
  EXPECT(pthread_create(&threads[1], NULL, (void* (*)(void*))(void*)exit, NULL) == 0);
  for (;;) pause();
}

static void orphans_reaped(void) {
  fflush(stdout);
  int ends[2];
  EXPECT(pipe2(ends, O_CLOEXEC) == 0);
  for (int n = 0; n < 5; ++n)
    if (fork() == 0) _exit(n);
  int sum = 0, status;
  while (wait(&status) > 0) sum += WEXITSTATUS(status);
  printf("sum %d: %s\n", sum, strerror(errno));
}

int main(int argc, char** argv) {
  static const Act acts[] = {{"fork_while_mapping", fork_while_mapping},
                             {"child_outlives", child_outlives},
                             {"main_thread_ends", main_thread_ends},
                             {"thread_executes", thread_executes},
                             {"end_from_thread", end_from_thread},
                             {"children", orphans_reaped},
                             {NULL, NULL}};
  return perform_chosen(acts, argc, argv);
}
