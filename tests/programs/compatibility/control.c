// SPDX-License-Identifier: BSD-3-Clause
// Acts of programs with their own flow of control: signals, contexts, threads, thread-local data.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "acts.h"

static sigjmp_buf back;
static volatile sig_atomic_t count;

static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  EXPECT(sigaction(number, &action, NULL) == 0);
}

static void jump_back(int number) {
  siglongjmp(back, number);
}

static void add_one(int number) {
  (void)number;
  ++count;
}

static int descend(volatile char* above) {
  volatile char frame[4096];
  frame[0] = *above;
  return descend(frame) + frame[0];
}

static void stack_overflow(void) {
  static char room[65536];
  stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
  volatile char start = 1;
  EXPECT(sigaltstack(&stack, NULL) == 0);
  handle(SIGSEGV, jump_back, SA_ONSTACK);
  for (volatile int n = 0; n < 3; ++n) {
    int number = sigsetjmp(back, 1);
    if (number == 0) descend(&start);
    printf("overflow caught by handler: %s\n", strsignal(number));
  }
}

static void bad_accesses(void) {
  handle(SIGSEGV, jump_back, 0);
  handle(SIGFPE, jump_back, 0);
  handle(SIGILL, jump_back, 0);
  if (sigsetjmp(back, 1) == 0) *(volatile int*)8 = 1;
  printf("null pointer caught\n");
  volatile int zero = 0;
  if (sigsetjmp(back, 1) == 0) zero = 1 / zero;
  printf("division caught\n");
  if (sigsetjmp(back, 1) == 0) __asm__ volatile("ud2");
  printf("illegal instruction caught\n");
}

static void jumps(void) {
  static jmp_buf place;
  volatile int rounds = 0;
  if (setjmp(place) < 5 && rounds < 5) {
    ++rounds;
    longjmp(place, rounds);
  }
  printf("rounds %d\n", rounds);
}

#ifdef __GLIBC__  // musl has neither contexts nor functions chosen at run time
static ucontext_t main_context, coroutine;

static void count_up(void) {
  for (int n = 0; n < 3; ++n) {
    printf("coroutine %d\n", n);
    swapcontext(&coroutine, &main_context);
  }
}

static void contexts(void) {
  char* stack = malloc(1 << 16);
  EXPECT(getcontext(&coroutine) == 0);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = 1 << 16;
  coroutine.uc_link = &main_context;
  makecontext(&coroutine, count_up, 0);
  for (int n = 0; n < 4; ++n) EXPECT(swapcontext(&main_context, &coroutine) == 0);
  free(stack);
}

static int plain_answer(void) {
  return 42;
}
// Chosen while the program is relocated.
static int (*choose_answer(void))(void) {
  return plain_answer;
}
int answer(void) __attribute__((ifunc("choose_answer")));

static void ifunc(void) {
  printf("%d\n", answer());
}
#endif

static void timers(void) {
  handle(SIGALRM, add_one, SA_RESTART);
  struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
  EXPECT(setitimer(ITIMER_REAL, &often, NULL) == 0);
  while (count < 5) pause();
  EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
  count = 0;
  ualarm(2000, 0);
  while (count < 1) pause();
  handle(SIGPROF, add_one, 0);
  EXPECT(setitimer(ITIMER_PROF, &often, NULL) == 0);
  for (count = 0; count < 3;) continue;
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1};
  handle(SIGRTMIN + 1, add_one, 0);
  EXPECT(setitimer(ITIMER_PROF, &never, NULL) == 0 &&
         timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  struct itimerspec soon = {{0, 0}, {0, 1000000}};
  count = 0;
  EXPECT(timer_settime(timer, 0, &soon, NULL) == 0);
  while (count < 1) usleep(1000);
}

static void cleaned(void* what) {
  printf("cleanup: %s\n", (char*)what);
}

static void* wait_cancelled(void* unused) {
  (void)unused;
  pthread_cleanup_push(cleaned, "cancelled thread");
  for (;;) sleep(100);
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancelling(void) {
  pthread_t thread;
  void* result;
  EXPECT(pthread_create(&thread, NULL, wait_cancelled, NULL) == 0);
  usleep(2000);
  EXPECT(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
  printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

static void* lock_and_end(void* mutex) {
  pthread_mutex_lock(mutex);
  return NULL;
}

// Held by a thread that ended, then by a process that died.
static void robust_mutexes(void) {
  pthread_mutexattr_t attributes;
  pthread_mutex_t* mutex =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  EXPECT(pthread_mutex_init(mutex, &attributes) == 0);
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, lock_and_end, mutex) == 0 &&
         pthread_join(thread, NULL) == 0);
  printf("after the thread: %s\n", strerror(pthread_mutex_lock(mutex)));
  EXPECT(pthread_mutex_consistent(mutex) == 0 && pthread_mutex_unlock(mutex) == 0);
  pid_t child = fork();
  if (child == 0) {
    pthread_mutex_lock(mutex);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, NULL, 0);
  printf("after the process: %s\n", strerror(pthread_mutex_lock(mutex)));
}

static mtx_t lock;
static thread_local int of_thread = 5;
static int total;

static int add_to_total(void* number) {
  mtx_lock(&lock);
  total += (of_thread += *(int*)number);
  mtx_unlock(&lock);
  return of_thread;
}

static void c11_threads(void) {
  int numbers[4] = {1, 2, 3, 4}, result;
  thrd_t threads[4];
  EXPECT(mtx_init(&lock, mtx_plain) == thrd_success);
  for (int n = 0; n < 4; ++n)
    EXPECT(thrd_create(&threads[n], add_to_total, &numbers[n]) == thrd_success);
  for (int n = 0; n < 4; ++n) {
    EXPECT(thrd_join(threads[n], &result) == thrd_success && result == 5 + numbers[n]);
  }
  printf("total %d, own %d\n", total, of_thread);
}

static sem_t ready;
static pthread_barrier_t barrier;

static void* meet(void* unused) {
  (void)unused;
  cpu_set_t mask;
  EXPECT(sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) > 0);
  int serial = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  sem_post(&ready);
  return (void*)(intptr_t)serial;
}

static void many_threads(void) {
  enum { kThreads = 64 };
  pthread_t threads[kThreads];
  pthread_attr_t attributes;
  intptr_t serial = 0;
  EXPECT(sem_init(&ready, 0, 0) == 0 && pthread_barrier_init(&barrier, NULL, kThreads) == 0);
  EXPECT(pthread_attr_init(&attributes) == 0 &&
         pthread_attr_setstacksize(&attributes, 1 << 18) == 0);
  for (int n = 0; n < kThreads; ++n)
    EXPECT(pthread_create(&threads[n], &attributes, meet, NULL) == 0);
  for (int n = 0; n < kThreads; ++n) EXPECT(sem_wait(&ready) == 0);
  for (int n = 0; n < kThreads; ++n) {
    void* result;
    EXPECT(pthread_join(threads[n], &result) == 0);
    serial += (intptr_t)result;
  }
  printf("met, serial threads %d\n", (int)serial);
}

static void* say_so(void* said) {
  sem_post(said);
  return NULL;
}

/* Each takes its own stack away when it ends. */
static void detached_threads(void) {
  enum { kThreads = 8 };
  EXPECT(sem_init(&ready, 0, 0) == 0);
  for (int n = 0; n < kThreads; ++n) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, say_so, &ready) == 0 && pthread_detach(thread) == 0);
    EXPECT(sem_wait(&ready) == 0);
  }
  usleep(20000);
  printf("all have ended\n");
}

int main(int argc, char** argv) {
  static const Act acts[] = {{"stack_overflow", stack_overflow},
                             {"bad_accesses", bad_accesses},
                             {"setjmp", jumps},

                             {"timers", timers},
                             {"cancel", cancelling},
                             {"robust_mutex", robust_mutexes},
                             {"c11_threads", c11_threads},
                             {"many_threads", many_threads},
                             {"detached_threads", detached_threads},

#ifdef __GLIBC__
                             {"makecontext", contexts},
                             {"ifunc", ifunc},
#endif
                             {NULL, NULL}};
  return perform_chosen(acts, argc, argv);
}
