/* SPDX-License-Identifier: BSD-3-Clause */
/* endings.c - threads and processes of `requests` that end before what they asked for. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "requests.h"

enum { LEFT_BYTES = 1 << 16, LEFT_WRITES = 600 };
static unsigned char left_there[LEFT_BYTES], left_here[LEFT_BYTES];
static nagaya_remote* left_places;
static uint64_t left_written;

/* More than a lane holds, most of them large. */
static void* write_and_end(void* unused) {
  for (int n = 0; n < LEFT_WRITES; ++n) {
    nagaya_llcl_transfer put = {left_places[(rank + 1) % size], left_here,
                                n % 8 == 0 ? 8 : LEFT_BYTES, nagaya_counter(&left_written)};
    ACCEPTED(nagaya_llcl_try_write(&put));
  }
  return unused;
}

/* After the thread's own destructors, those of C++ among them. */
static void write_last(void* unused) {
  (void)unused;
  nagaya_llcl_transfer put = {left_places[(rank + 1) % size], left_here, 8,
                              nagaya_counter(&left_written)};
  ACCEPTED(nagaya_llcl_try_write(&put));
}

static pthread_key_t at_end;
static void* write_until_the_end(void* unused) {
  EXPECT(pthread_setspecific(at_end, &at_end) == 0);
  return write_and_end(unused);
}

void a_thread_ends_before_its_requests(void) {
  EXPECT(pthread_key_create(&at_end, write_last) == 0);
  left_places = share(left_there, sizeof left_there);
  fill(left_here, LEFT_BYTES, rank, 0);
  for (uint32_t round = 1; round <= 4; ++round) {
    pthread_t threads[THREADS];
    for (int n = 0; n < THREADS; ++n)
      EXPECT(pthread_create(&threads[n], NULL, write_until_the_end, NULL) == 0);
    for (int n = 0; n < THREADS; ++n) pthread_join(threads[n], NULL);
    EXPECT(nagaya_llcl_wait_counter(&left_written, round * THREADS * (LEFT_WRITES + 1), 30000) ==
           0);
  }
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(is_filled(left_there, LEFT_BYTES, left_rank(), 0));
}

/* One after the other, more than a small node has lanes: each lane is given back. */
static void* write_only_at_the_end(void* unused) {
  EXPECT(pthread_setspecific(at_end, &at_end) == 0);
  return unused;
}

void threads_ask_for_the_last_time_as_they_end(void) {
  enum { ENDING = 1000 };
  EXPECT(pthread_key_create(&at_end, write_last) == 0);
  left_places = share(left_there, sizeof left_there);
  for (uint32_t n = 1; n <= ENDING; ++n) {
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, write_only_at_the_end, NULL) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(nagaya_llcl_wait_counter(&left_written, n, 30000) == 0);
  }
  EXPECT(nagaya_comm_barrier() == 0);
}

/* More threads than a small node has lanes: they wait all the same, and a request is refused. */
enum { CROWD = 800 };
static uint32_t crowd_begun, crowd_may_go, crowd_refused;
static void* ask_and_wait(void* unused) {
  nagaya_llcl_transfer put = {left_places[(rank + 1) % size], left_here, 8,
                              nagaya_counter(&left_written)};
  int error;
  while ((error = nagaya_llcl_try_write(&put)) == -EAGAIN) continue;
  EXPECT(error == 0 || error == -ENOBUFS);
  if (error == -ENOBUFS) __atomic_fetch_add(&crowd_refused, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&crowd_begun, 1, __ATOMIC_RELEASE);
  EXPECT(nagaya_llcl_wait_flag(&crowd_may_go, 30000) == 0);
  return unused;
}

void more_threads_than_lanes(void) {
  left_places = share(left_there, sizeof left_there);
  if (rank == size - 1) { /* its neighbour is on another node if any is */
    pthread_t threads[CROWD];
    for (int n = 0; n < CROWD; ++n)
      EXPECT(pthread_create(&threads[n], NULL, ask_and_wait, NULL) == 0);
    while (__atomic_load_n(&crowd_begun, __ATOMIC_ACQUIRE) < CROWD) usleep(1000);
    __atomic_store_n(&crowd_may_go, 1, __ATOMIC_RELEASE);
    for (int n = 0; n < CROWD; ++n) pthread_join(threads[n], NULL);
    EXPECT((crowd_refused > 0) == ((int64_t)right.node != nagaya_comm_node()));
    EXPECT(nagaya_llcl_wait_counter(&left_written, CROWD - crowd_refused, 30000) == 0);
    write_last(NULL); /* the lanes are free again */
    EXPECT(nagaya_llcl_wait_counter(&left_written, CROWD - crowd_refused + 1, 30000) == 0);
  }
  EXPECT(nagaya_comm_barrier() == 0);
}

/* The child's exit runs destructors of its parent's objects. */
void a_forked_child_ends_before_the_requests(void) {
  left_places = share(left_there, sizeof left_there);
  fill(left_here, LEFT_BYTES, rank, 0);
  for (uint32_t round = 1; round <= 4; ++round) {
    write_and_end(NULL);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      exit(nagaya_llcl_flush(right.node, -1) == -ESRCH ? 0 : 1);
    }
    int status;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    EXPECT(nagaya_llcl_wait_counter(&left_written, round * LEFT_WRITES, 30000) == 0);
  }
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(is_filled(left_there, LEFT_BYTES, left_rank(), 0));
}

/* Its requests to others are dropped or refused, and disturb nobody. */
void a_process_ends_before_its_requests(void) {
  left_places = share(left_there, sizeof left_there);
  EXPECT(nagaya_comm_barrier() == 0);
  for (int n = 0; n < LEFT_WRITES && rank % 2 == 0; ++n) {
    nagaya_llcl_transfer put = {left_places[(rank + 1) % size], left_here, LEFT_BYTES,
                                nagaya_counter(&left_written)};
    const int error = nagaya_llcl_try_write(&put);
    EXPECT(error == 0 || error == -EAGAIN || error == -EINVAL);
  }
  exit(0);
}
