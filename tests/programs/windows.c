/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c MODE - windows of nagaya/window.h among the tasks of a node, or of several.
 *
 *   all            every function, with several threads; the first task prints one line at the end
 *   many N         N windows open at once; then a hundredth of them by the same contexts
 *   die lock|start|open   the last task kills itself: as the holder of a lock that the others wait
 *                  for; before its post; before it opens the window
 */
#include <nagaya/comm.h>
#include <nagaya/match.h>
#include <nagaya/window.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "expect.h"

enum { PROCESSES_MAX = 64, WORDS = 64, THREADS = 3 };

static uint32_t rank, size;
static int has_nodes; /* several */
static uint32_t rounds = 200;
static nagaya_processes* members;

static nagaya_window* opened(uint64_t context, nagaya_window_memory own) {
  nagaya_window* window = NULL;
  EXPECT_EQUAL(nagaya_window_open(context, members, &own, 1, &window), 0);
  return window;
}

static nagaya_window* opened_words(uint64_t context) {
  return opened(context, (nagaya_window_memory){
                             .kind = NAGAYA_WINDOW_ALLOCATE, .bytes = 8 * WORDS, .unit = 8});
}

static nagaya_window_target word(uint32_t target, uint64_t index) {
  return (nagaya_window_target){
      .rank = target, .displacement = index, .place = {.bytes = sizeof(uint64_t)}};
}

/* The value stays until the access is complete. */
static int put(nagaya_window* window, uint32_t target, uint64_t index, uint64_t value) {
  enum { KEPT = 1 << 16 };
  static uint64_t kept[KEPT];
  static uint32_t used;
  uint64_t* const own = &kept[__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED) % KEPT];
  *own = value;
  const nagaya_window_buffer from = {.first = own, .bytes = sizeof value};
  const nagaya_window_target to = word(target, index);
  return nagaya_window_put(window, &from, &to);
}

static uint64_t got(nagaya_window* window, uint32_t target, uint64_t index) {
  uint64_t value = 0;
  const nagaya_window_buffer to = {.first = &value, .bytes = sizeof value};
  const nagaya_window_target from = word(target, index);
  EXPECT_EQUAL(nagaya_window_get(window, &to, &from), 0);
  if (has_nodes) EXPECT_EQUAL(nagaya_window_flush(window, target), 0);
  return value;
}

static const uint64_t* own_words(nagaya_window* window) {
  nagaya_window_part part;
  EXPECT_EQUAL(nagaya_window_part_of(window, rank, &part), 0);
  return part.base;
}

/* ---- fence --------------------------------------------------------------------------------- */

static void put_between_fences(nagaya_window* window) {
  const uint64_t* const words = own_words(window);
  EXPECT_EQUAL(nagaya_window_fence(window, NAGAYA_WINDOW_NO_PRECEDE), 0);
  for (uint64_t round = 1; round <= rounds; ++round) {
    EXPECT_EQUAL(put(window, (rank + round) % size, rank, round * 1000 + rank), 0);
    EXPECT_EQUAL(nagaya_window_fence(window, round == rounds ? NAGAYA_WINDOW_NO_SUCCEED : 0), 0);
    const uint32_t from = (rank + size - round % size) % size;
    EXPECT_EQUAL(words[from], round * 1000 + from);
    /* Nobody writes the next round's word before all have checked this one's. */
    if (round < rounds) EXPECT_EQUAL(nagaya_window_fence(window, 0), 0);
  }
  EXPECT_EQUAL(put(window, rank, 0, 0), -EPROTO);
}

/* ---- post, start, complete, wait ----------------------------------------------------------- */

static void put_to_neighbours(nagaya_window* window) {
  const uint32_t left = (rank + size - 1) % size, right = (rank + 1) % size;
  const uint32_t ranks[] = {left, right};
  const uint32_t count = left == right ? 1 : 2;
  const uint64_t* const words = own_words(window);
  for (uint64_t round = 1; round <= rounds; ++round) {
    EXPECT_EQUAL(nagaya_window_post(window, ranks, count, 0), 0);
    EXPECT_EQUAL(nagaya_window_start(window, ranks, count, 0), 0);
    EXPECT_EQUAL(put(window, left, 10, round + 7 * rank), 0);
    EXPECT_EQUAL(put(window, right, 11, round + 7 * rank), 0);
    if (size > 3) EXPECT_EQUAL(put(window, (rank + 2) % size, 12, 0), -EPROTO);
    EXPECT_EQUAL(nagaya_window_complete(window), 0);
    if (round % 2 == 0)
      EXPECT_EQUAL(nagaya_window_wait(window), 0);
    else
      while (nagaya_window_test(window) == 0) continue;
    EXPECT_EQUAL(words[10], round + 7 * right);
    EXPECT_EQUAL(words[11], round + 7 * left);
  }
}

/* ---- locks --------------------------------------------------------------------------------- */

/* Each thread adds to a word of its own in every target, by a get and a put: a lock that fails to
 * exclude loses an addition. Between two locks of a target another thread has its lock. */
typedef struct {
  nagaya_window* window;
  uint32_t number;
} counting_t;

/* Locks exclusively, by attempts in every third round. */
static void lock_exclusively(nagaya_window* window, uint32_t target, uint64_t round) {
  int error;
  if (round % 3 != 0) {
    EXPECT_EQUAL(nagaya_window_lock(window, NAGAYA_WINDOW_EXCLUSIVE, target, 0), 0);
    return;
  }
  while ((error = nagaya_window_try_lock(window, target)) == -EAGAIN) sched_yield();
  EXPECT_EQUAL(error, 0);
}

static void* count_under_locks(void* context) {
  const counting_t* const counting = context;
  nagaya_window* const window = counting->window;
  for (uint32_t round = 0; round < rounds; ++round)
    for (uint32_t target = counting->number; target < size; target += THREADS) {
      lock_exclusively(window, target, round);
      EXPECT_EQUAL(put(window, target, 20, got(window, target, 20) + 1), 0);
      EXPECT_EQUAL(nagaya_window_flush(window, target), 0);
      EXPECT_EQUAL(nagaya_window_unlock(window, target), 0);
      EXPECT_EQUAL(nagaya_window_lock(window, NAGAYA_WINDOW_SHARED, target, 0), 0);
      EXPECT(got(window, target, 20) <= (uint64_t)size * rounds);
      EXPECT_EQUAL(nagaya_window_unlock(window, target), 0);
    }
  return NULL;
}

static void count_in_threads(nagaya_window* window) {
  pthread_t threads[THREADS];
  counting_t countings[THREADS];
  for (uint32_t n = 0; n < THREADS; ++n) {
    countings[n] = (counting_t){window, n};
    EXPECT_EQUAL(pthread_create(&threads[n], NULL, count_under_locks, &countings[n]), 0);
  }
  for (uint32_t n = 0; n < THREADS; ++n) EXPECT_EQUAL(pthread_join(threads[n], NULL), 0);
  EXPECT_EQUAL(nagaya_window_fence(window, 0), 0);
  EXPECT_EQUAL(own_words(window)[20], (uint64_t)size * rounds);
  EXPECT_EQUAL(nagaya_window_fence(window, NAGAYA_WINDOW_NO_SUCCEED), 0);
}

/* lock_all of some meets exclusive locks of others: under a lock_all nobody sees a word of target 0
 * change by halves. */
static void lock_all_beside_locks(nagaya_window* window) {
  for (uint64_t round = 1; round <= rounds; ++round)
    if ((rank + round) % 2 == 0) {
      EXPECT_EQUAL(nagaya_window_lock_all(window, 0), 0);
      EXPECT_EQUAL(got(window, 0, 30), got(window, 0, 31));
      EXPECT_EQUAL(nagaya_window_flush_all(window), 0);
      EXPECT_EQUAL(nagaya_window_unlock_all(window), 0);
    } else {
      lock_exclusively(window, 0, round);
      const uint64_t next = got(window, 0, 30) + 1;
      EXPECT_EQUAL(put(window, 0, 30, next), 0);
      EXPECT_EQUAL(put(window, 0, 31, next), 0);
      EXPECT_EQUAL(nagaya_window_unlock(window, 0), 0);
    }
  EXPECT_EQUAL(nagaya_window_fence(window, 0), 0);
  if (rank == 0) EXPECT_EQUAL(own_words(window)[30], (uint64_t)size * rounds / 2);
  EXPECT_EQUAL(nagaya_window_fence(window, NAGAYA_WINDOW_NO_SUCCEED), 0);
}

/* ---- elements ------------------------------------------------------------------------------ */

static void accumulate_at_all(nagaya_window* window) {
  uint64_t ones[4] = {1, 1, 1, 1}, ticket = 0, result[4];
  const nagaya_runs every_second = {NULL, 8, 4, 16};
  const nagaya_window_buffer from = {.first = ones, .bytes = sizeof ones},
                             before = {.first = result, .bytes = sizeof result};
  EXPECT_EQUAL(nagaya_window_lock_all(window, 0), 0);
  for (uint32_t n = 0; n < size * rounds; ++n) {
    const nagaya_window_target to = {
        .rank = n % size,
        .displacement = 40,
        .place = {.bytes = sizeof ones, .runs = &every_second, .groups = 1}};
    EXPECT_EQUAL(
        nagaya_window_accumulate(window, &from, &to, NAGAYA_ELEMENT_UINT64, NAGAYA_REDUCE_SUM), 0);
    EXPECT_EQUAL(nagaya_window_get_accumulate(window, NULL, &before, &to, NAGAYA_ELEMENT_UINT64,
                                              NAGAYA_REDUCE_NO_OP),
                 0);
    EXPECT_EQUAL(nagaya_window_flush(window, n % size), 0);
    EXPECT(result[3] >= n / size + 1 && result[3] <= (uint64_t)size * rounds);
    EXPECT_EQUAL(nagaya_window_fetch_and_op(window, ones, &ticket, n % size, 41,
                                            NAGAYA_ELEMENT_UINT64, NAGAYA_REDUCE_SUM),
                 0);
    EXPECT_EQUAL(nagaya_window_flush_all(window), 0);
    uint64_t seen = 0, next = 0;
    do {
      seen = ticket, next = seen + 1;
      EXPECT_EQUAL(nagaya_window_compare_and_swap(window, &next, &seen, &ticket, n % size, 43,
                                                  NAGAYA_ELEMENT_UINT64),
                   0);
      EXPECT_EQUAL(nagaya_window_flush(window, n % size), 0);
    } while (ticket != seen);
  }
  EXPECT_EQUAL(nagaya_window_unlock_all(window), 0);
  EXPECT_EQUAL(nagaya_window_fence(window, 0), 0);
  for (uint32_t n = 40; n < 48; ++n)
    EXPECT_EQUAL(own_words(window)[n], n == 45 || n == 47 ? 0 : (uint64_t)size * rounds);
  EXPECT_EQUAL(nagaya_window_fence(window, NAGAYA_WINDOW_NO_SUCCEED), 0);
}

/* ---- kinds, errors ------------------------------------------------------------------------- */

static void use_contiguous_memory(void) {
  nagaya_window* const window = opened(
      9, (nagaya_window_memory){.kind = NAGAYA_WINDOW_CONTIGUOUS, .bytes = 8 * rank, .unit = 8});
  nagaya_window_part part, last;
  for (uint32_t n = 0; n < size; ++n) {
    EXPECT_EQUAL(nagaya_window_part_of(window, n, &part), 0);
    EXPECT(n == 0 || part.base == (char*)last.base + last.bytes);
    EXPECT_EQUAL(part.bytes, 8 * n);
    last = part;
  }
  EXPECT_EQUAL(nagaya_window_part_of(window, size, &part), -EINVAL);
  for (uint32_t n = 0; n < rank; ++n) ((uint64_t*)own_words(window))[n] = rank;
  EXPECT_EQUAL(nagaya_window_fence(window, 0), 0);
  for (uint32_t n = 1; n < size; ++n) EXPECT_EQUAL(got(window, n, n - 1), n);
  EXPECT_EQUAL(nagaya_window_fence(window, NAGAYA_WINDOW_NO_SUCCEED), 0);
  EXPECT_EQUAL(nagaya_window_close(window), 0);
}

/* Each task attaches every second of its words, then, in their place, all of them; their addresses
 * travel by another window. */
static void use_attached_memory(nagaya_window* addresses) {
  enum { MINE = 80 };
  nagaya_window* const window =
      opened(10, (nagaya_window_memory){.kind = NAGAYA_WINDOW_DYNAMIC, .unit = 1});
  uint64_t* const mine = calloc(MINE, 8);
  for (uint32_t n = 0; n < MINE; n += 2) EXPECT_EQUAL(nagaya_window_attach(window, &mine[n], 8), 0);
  EXPECT_EQUAL(nagaya_window_attach(window, (char*)mine + 4, 8), -EEXIST);
  EXPECT_EQUAL(nagaya_window_attach(addresses, mine, 8), -EINVAL);
  EXPECT_EQUAL(nagaya_window_fence(addresses, 0), 0);
  for (uint32_t n = 0; n < size; ++n) EXPECT_EQUAL(put(addresses, n, rank, (uintptr_t)mine), 0);
  EXPECT_EQUAL(nagaya_window_fence(addresses, NAGAYA_WINDOW_NO_SUCCEED), 0);
  EXPECT_EQUAL(nagaya_window_fence(window, 0), 0);
  const uint32_t left = (rank + size - 1) % size, right = (rank + 1) % size;
  const uint64_t there = own_words(addresses)[right];
  EXPECT_EQUAL(put(window, right, there + 8 * (MINE - 2), rank), 0);
  EXPECT_EQUAL(put(window, right, there + 8, rank), -ERANGE);
  EXPECT_EQUAL(nagaya_window_fence(window, 0), 0);
  EXPECT_EQUAL(mine[MINE - 2], left);
  for (uint32_t n = 0; n < MINE; n += 2) EXPECT_EQUAL(nagaya_window_detach(window, &mine[n]), 0);
  EXPECT_EQUAL(nagaya_window_detach(window, mine), -ENOENT);
  EXPECT_EQUAL(nagaya_window_attach(window, mine, 8 * MINE), 0);
  EXPECT_EQUAL(nagaya_window_fence(window, 0), 0);
  EXPECT_EQUAL(put(window, right, there, 1 + rank), 0);
  EXPECT_EQUAL(put(window, right, there + 8, 2 + rank), 0);
  EXPECT_EQUAL(put(window, right, there + 8 * MINE, rank), -ERANGE);
  EXPECT_EQUAL(nagaya_window_fence(window, NAGAYA_WINDOW_NO_SUCCEED), 0);
  EXPECT(mine[0] == 1 + left && mine[1] == 2 + left && mine[2] == 0);
  EXPECT_EQUAL(nagaya_window_close(window), 0);
  free(mine);
}

static void fail_together(void) {
  nagaya_window* window = NULL;
  nagaya_window_memory own = {.kind = NAGAYA_WINDOW_ALLOCATE, .bytes = 8, .unit = 8};
  if (rank == size - 1) own.bytes = SIZE_MAX / 4;
  EXPECT_EQUAL(nagaya_window_open(11, members, &own, 0, &window), -ENOMEM);
  own.bytes = 8;
  if (rank == 0) own.error = -EACCES;
  EXPECT_EQUAL(nagaya_window_open(12, members, &own, 0, &window), -EACCES);
  EXPECT_EQUAL(nagaya_window_open(UINT64_C(1) << 56, members, &own, 0, &window), -EINVAL);
  EXPECT(window == NULL);
}

static void mistake_epochs(nagaya_window* window) {
  const uint32_t nobody = size;
  EXPECT_EQUAL(nagaya_window_unlock(window, 0), -EPROTO);
  EXPECT_EQUAL(nagaya_window_unlock_all(window), -EPROTO);
  EXPECT_EQUAL(nagaya_window_complete(window), -EPROTO);
  EXPECT_EQUAL(nagaya_window_wait(window), -EPROTO);
  EXPECT_EQUAL(nagaya_window_test(window), -EPROTO);
  EXPECT_EQUAL(nagaya_window_flush(window, 0), -EPROTO);
  EXPECT_EQUAL(nagaya_window_flush_all(window), -EPROTO);
  EXPECT_EQUAL(nagaya_window_start(window, &nobody, 1, 0), -EINVAL);
  EXPECT_EQUAL(nagaya_window_post(window, &nobody, 1, 0), -EINVAL);
  EXPECT_EQUAL(nagaya_window_lock(window, NAGAYA_WINDOW_SHARED, nobody, 0), -EINVAL);
  EXPECT_EQUAL(nagaya_window_lock(window, NAGAYA_WINDOW_SHARED, 0, NAGAYA_WINDOW_NO_CHECK), 0);
  EXPECT_EQUAL(nagaya_window_lock(window, NAGAYA_WINDOW_SHARED, 0, 0), -EPROTO);
  EXPECT_EQUAL(nagaya_window_try_lock(window, 0), -EPROTO);
  EXPECT_EQUAL(nagaya_window_lock_all(window, 0), -EBUSY);
  EXPECT_EQUAL(nagaya_window_start(window, NULL, 0, 0), -EBUSY);
  EXPECT_EQUAL(nagaya_window_fence(window, 0), -EBUSY);
  EXPECT_EQUAL(nagaya_window_has_epoch(window), 1);
  EXPECT_EQUAL(nagaya_window_close(window), -EBUSY);
  EXPECT_EQUAL(nagaya_window_unlock(window, 0), 0);
  EXPECT_EQUAL(nagaya_window_has_epoch(window), 0);
  EXPECT_EQUAL(nagaya_window_post(window, NULL, 0, 0), 0);
  EXPECT_EQUAL(nagaya_window_post(window, NULL, 0, 0), -EBUSY);
  EXPECT_EQUAL(nagaya_window_has_epoch(window), 1);
  EXPECT_EQUAL(nagaya_window_close(window), -EBUSY);
  EXPECT_EQUAL(nagaya_window_wait(window), 0);
  EXPECT_EQUAL(nagaya_window_sync(window), 0);
}

/* Its memory lies in one piece. */
static void refuse_other_nodes(void) {
  nagaya_window* window = NULL;
  nagaya_window_memory own = {.kind = NAGAYA_WINDOW_CONTIGUOUS, .unit = 1};
  EXPECT_EQUAL(nagaya_window_open(13, members, &own, 0, &window), -EOPNOTSUPP);
  own.kind = NAGAYA_WINDOW_ALLOCATE;
  EXPECT_EQUAL(nagaya_window_open(UINT64_C(1) << 52, members, &own, 0, &window), -EINVAL);
  EXPECT(window == NULL);
}

/* -------------------------------------------------------------------------------------------- */

static void use_all(void) {
  nagaya_window* const window = opened_words(1);
  put_between_fences(window);
  put_to_neighbours(window);
  count_in_threads(window);
  lock_all_beside_locks(window);
  count_in_threads(opened_words(2)); /* beside the first window, which stays open */
  accumulate_at_all(window);
  if (has_nodes)
    refuse_other_nodes();
  else
    use_contiguous_memory();
  use_attached_memory(window);
  fail_together();
  mistake_epochs(window);
  EXPECT_EQUAL(nagaya_window_close(window), 0);
  EXPECT_EQUAL(nagaya_window_close(NULL), -EINVAL);
  if (rank == 0) printf("windows of %u\n", size);
}

static void open_and_close(uint32_t count) {
  nagaya_window** const windows = malloc(count * sizeof(nagaya_window*));
  for (uint32_t n = 0; n < count; ++n)
    windows[n] = opened(n, (nagaya_window_memory){.kind = NAGAYA_WINDOW_DYNAMIC, .unit = 1});
  for (uint32_t n = 0; n < count; ++n) EXPECT_EQUAL(nagaya_window_close(windows[n]), 0);
  EXPECT_EQUAL(nagaya_comm_barrier(), 0); /* the contexts may be used again */
  free(windows);
}

static void open_many(uint32_t count) {
  open_and_close(count);
  open_and_close(count / 100);
  if (rank == 0) printf("%u windows of %u\n", count, size);
}

static void die(const char* place) {
  const int is_last = rank == size - 1;
  const uint32_t last = size - 1;
  if (strcmp(place, "open") == 0 && is_last) raise(SIGKILL);
  nagaya_window* const window = opened_words(1);
  if (strcmp(place, "lock") == 0) {
    if (is_last) EXPECT_EQUAL(nagaya_window_lock(window, NAGAYA_WINDOW_EXCLUSIVE, 0, 0), 0);
    EXPECT_EQUAL(nagaya_comm_barrier(), 0);
    if (is_last) {
      usleep(200000); /* the others wait, some of them asleep */
      raise(SIGKILL);
    }
    if (rank == 0) EXPECT_EQUAL(nagaya_window_lock_all(window, 0), 0);
    EXPECT_EQUAL(nagaya_window_lock(window, NAGAYA_WINDOW_SHARED, 0, 0), 0);
  } else {
    if (is_last) raise(SIGKILL);
    EXPECT_EQUAL(nagaya_window_start(window, &last, 1, 0), 0);
  }
}

int main(int argc, char** argv) {
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  rank = (uint32_t)nagaya_comm_rank();
  size = (uint32_t)nagaya_comm_size();
  EXPECT(argc > 1 && size <= PROCESSES_MAX);
  nagaya_process all[PROCESSES_MAX];
  for (uint32_t n = 0; n < size; ++n) EXPECT_EQUAL(nagaya_comm_process(n, &all[n]), 0);
  has_nodes = all[size - 1].node != all[0].node;
  if (has_nodes) {
    rounds = 10;
    EXPECT_EQUAL(nagaya_match_open(1), 0);
  }
  EXPECT_EQUAL(nagaya_processes_open(all, size, rank, &members), 0);
  if (strcmp(argv[1], "many") == 0)
    open_many((uint32_t)atoi(argv[2]));
  else if (strcmp(argv[1], "die") == 0)
    die(argv[2]);
  else
    use_all();
  EXPECT_EQUAL(nagaya_processes_close(members), 0);
  EXPECT_EQUAL(nagaya_comm_barrier(), 0);
  if (has_nodes) EXPECT_EQUAL(nagaya_match_close(), 0);
  return 0;
}
