/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c ACT - what nagaya/llcl.h promises, one promise an act; run by every process of a job.
 * Prints nothing unless something is wrong. Long, for the acts share their beginning: a job whose
 * processes know each other; none needs another one. */
#include <errno.h>
#include <nagaya/comm.h>
#include <nagaya/task.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HANDLER = 3, LONG_BYTES = 100000, MESSAGES = 2000, ADDS = 20000, THREADS = 3 };

#define EXPECT(condition)                                                                      \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      fprintf(stderr, "rank %d line %d: %s\n", (int)nagaya_comm_rank(), __LINE__, #condition); \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

#define ACCEPTED(call)                            \
  do {                                            \
    int error;                                    \
    while ((error = (call)) == -EAGAIN) continue; \
    EXPECT(error == 0);                           \
  } while (0)

static int64_t rank, size;
static nagaya_process right;

/* Everybody's place of the same thing. */
static nagaya_remote* share(void* base, size_t bytes) {
  nagaya_remote own, *all = calloc((size_t)size, sizeof own);
  EXPECT(nagaya_llcl_register(base, bytes, &own) == 0);
  EXPECT(nagaya_comm_allgather(&own, sizeof own, all) == 0);
  return all;
}

static void count_up(void* data, int error) {
  EXPECT(error == 0);
  __atomic_fetch_add((int*)data, 1, __ATOMIC_RELEASE);
}

/* A single thread that only spins on its own flag, which its callback sets. */
static void spinning_on_a_callback(void) {
  static uint64_t words[64];
  nagaya_remote* const all = share(words, sizeof words);
  int called = 0;
  uint64_t value = (uint64_t)rank;
  nagaya_llcl_transfer put = {all[(rank + 1) % size], &value, sizeof value,
                              nagaya_callback(count_up, &called)};
  ACCEPTED(nagaya_llcl_try_write(&put));
  while (__atomic_load_n(&called, __ATOMIC_ACQUIRE) == 0) continue;
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(called == 1 && words[0] == (uint64_t)((rank + size - 1) % size));
}

static void every_size(void) {
  enum { LARGEST = 3 << 20 };
  static unsigned char there[LARGEST], here[LARGEST], back[LARGEST];
  nagaya_remote* const all = share(there, sizeof there);
  const size_t sizes[] = {0, 1, 8, 31, 32, 33, 4095, 4096, 4097, 65536, 99999, 1 << 20, LARGEST};
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
    for (size_t at = 0; at < sizes[n]; ++at) here[at] = (unsigned char)(at * 7 + n + (size_t)rank);
    memset(back, 0xee, sizeof back);
    uint32_t written = 0, read = 0;
    nagaya_llcl_transfer put = {all[(rank + 1) % size], here, sizes[n], nagaya_flag(&written)};
    put.remote.offset = LARGEST - sizes[n];
    ACCEPTED(nagaya_llcl_try_write(&put));
    EXPECT(nagaya_llcl_wait_flag(&written, 20000) == 0);
    nagaya_llcl_transfer get = put;
    get.local = back;
    get.on_complete = nagaya_flag(&read);
    ACCEPTED(nagaya_llcl_try_read(&get));
    EXPECT(nagaya_llcl_wait_flag(&read, 20000) == 0);
    EXPECT(memcmp(here, back, sizes[n]) == 0);
    EXPECT(sizes[n] == LARGEST || back[sizes[n]] == 0xee);
  }
}

static nagaya_remote* counters;
static void* add_many(void* unused) {
  uint64_t done = 0;
  for (int n = 0; n < ADDS; ++n) {
    nagaya_llcl_atomic add = {.remote = counters[0],
                              .operation = NAGAYA_ADD,
                              .type = NAGAYA_UINT64,
                              .operand = 1,
                              .on_complete = nagaya_counter(&done)};
    ACCEPTED(nagaya_llcl_try_atomic(&add));
  }
  EXPECT(nagaya_llcl_wait_counter(&done, ADDS, 60000) == 0);
  return unused;
}

static void atomics_of_many_threads(void) {
  static uint64_t sum;
  counters = share(&sum, sizeof sum);
  pthread_t threads[THREADS];
  for (int n = 0; n < THREADS; ++n) EXPECT(pthread_create(&threads[n], NULL, add_many, NULL) == 0);
  for (int n = 0; n < ADDS && rank == 0; ++n) __atomic_fetch_add(&sum, 1, __ATOMIC_SEQ_CST);
  for (int n = 0; n < THREADS; ++n) pthread_join(threads[n], NULL);
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(rank != 0 || sum == (uint64_t)(size * THREADS + 1) * ADDS);
}

static uint64_t one(nagaya_remote place, nagaya_operation operation, nagaya_type type,
                    uint64_t operand, uint64_t expected) {
  uint64_t before = 0;
  uint32_t done = 0;
  nagaya_llcl_atomic what = {place,   operation,         type, operand, expected,
                             &before, nagaya_flag(&done)};
  ACCEPTED(nagaya_llcl_try_atomic(&what));
  EXPECT(nagaya_llcl_wait_flag(&done, 20000) == 0);
  return before;
}

static void every_operation(void) {
  static uint64_t word;
  nagaya_remote* const all = share(&word, sizeof word);
  const nagaya_remote next = all[(rank + 1) % size];
  EXPECT(one(next, NAGAYA_SWAP, NAGAYA_UINT64, 12, 0) == 0);
  EXPECT(one(next, NAGAYA_ADD, NAGAYA_INT64, (uint64_t)-2, 0) == 12);
  EXPECT(one(next, NAGAYA_COMPARE_SWAP, NAGAYA_UINT64, 5, 11) == 10);
  EXPECT(one(next, NAGAYA_COMPARE_SWAP, NAGAYA_UINT64, 6, 10) == 10);
  EXPECT(one(next, NAGAYA_OR, NAGAYA_UINT32, 9, 0) == 6);
  EXPECT(one(next, NAGAYA_AND, NAGAYA_UINT32, 13, 0) == 15);
  EXPECT(one(next, NAGAYA_XOR, NAGAYA_INT32, 4, 0) == 13);
  EXPECT(one(next, NAGAYA_MIN, NAGAYA_INT32, (uint32_t)-3, 0) == 9);
  EXPECT(one(next, NAGAYA_MAX, NAGAYA_UINT32, 1, 0) == (uint32_t)-3);
  double value = 1.5;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  one(next, NAGAYA_SWAP, NAGAYA_DOUBLE, bits, 0);
  one(next, NAGAYA_ADD, NAGAYA_DOUBLE, bits, 0);
  const uint64_t sum = one(next, NAGAYA_MAX, NAGAYA_DOUBLE, bits, 0);
  memcpy(&value, &sum, sizeof value);
  EXPECT(value == 3.0);
}

static int64_t left_rank(void) {
  return (rank + size - 1) % size;
}

/* Each round's data differ, so that the data of the round before do not pass. */
static void fill(unsigned char* memory, size_t bytes, int64_t writer, int round) {
  for (size_t at = 0; at < bytes; ++at) memory[at] = (unsigned char)(at * 5 + writer * 31 + round);
}

static int is_filled(const unsigned char* memory, size_t bytes, int64_t writer, int round) {
  for (size_t at = 0; at < bytes; ++at)
    if (memory[at] != (unsigned char)(at * 5 + writer * 31 + round)) return 0;
  return 1;
}

/* Who has counted the notification finds the data. In every third round the waiter has long been
 * asleep. */
static void notified_writes(void) {
  enum { LARGEST = 1 << 20, ROUNDS = 60 };
  static unsigned char there[LARGEST], here[LARGEST];
  static uint64_t counter;
  nagaya_remote* const places = share(there, sizeof there);
  nagaya_remote* const counters = share(&counter, sizeof counter);
  const size_t sizes[] = {8, 1, 0, 33, 4096, 4097, LARGEST};
  const int64_t to = (rank + 1) % size;
  uint64_t written = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    const size_t bytes = sizes[(size_t)round % (sizeof sizes / sizeof *sizes)];
    fill(here, bytes, rank, round);
    if (round % 3 == 0 && rank % 2 == 0) usleep(3000);
    nagaya_llcl_transfer put = {places[to], here, bytes, nagaya_counter(&written)};
    ACCEPTED(nagaya_llcl_try_write_notify(&put, &counters[to]));
    EXPECT(nagaya_llcl_wait_counter(&counter, (uint32_t)round + 1, 20000) == 0);
    EXPECT(is_filled(there, bytes, left_rank(), round));
    EXPECT(nagaya_llcl_wait_counter(&written, (uint32_t)round + 1, 20000) == 0);
    EXPECT(nagaya_comm_barrier() == 0);
  }
  EXPECT(counter == ROUNDS && written == ROUNDS);
}

/* Columns, a rectangle upside down, one that shrinks, single runs: against a loop over all bytes.
 */
static void every_piece(void) {
  enum { SIDE = 300, BYTES = SIDE * SIDE };
  static unsigned char there[BYTES], here[BYTES], back[BYTES], expected[BYTES];
  nagaya_remote* const places = share(there, sizeof there);
  const nagaya_llcl_piece pieces[] = {{here + SIDE - 1, 3, 1, SIDE / 2, SIDE, SIDE},
                                      {here + 10 * SIDE, 20 * SIDE + 7, 8, 50, SIDE, SIDE},
                                      {here + 80 * SIDE, 150 * SIDE + 30, 100, 50, SIDE, -SIDE},
                                      {here + 200 * SIDE + 150, 160 * SIDE, 16, 60, -2 * SIDE, 20},
                                      {here + 210 * SIDE, 200 * SIDE, 20000, 1, 0, 0},
                                      {NULL, UINT64_MAX, 0, 7, 1, 1},
                                      {NULL, UINT64_MAX, 5, 0, 1, 1},
                                      {here, BYTES - 1, 1, 1, INT64_MIN, INT64_MAX}};
  enum { PIECES = sizeof pieces / sizeof *pieces };
  fill(here, BYTES, rank, 1);
  fill(expected, BYTES, left_rank(), 1);
  uint32_t written = 0, read = 0;
  nagaya_llcl_pieces put = {places[(rank + 1) % size], pieces, PIECES, nagaya_flag(&written)};
  ACCEPTED(nagaya_llcl_try_write_pieces(&put));
  EXPECT(nagaya_llcl_wait_flag(&written, 20000) == 0);
  EXPECT(nagaya_comm_barrier() == 0);

  nagaya_llcl_piece mirrored[PIECES];
  memcpy(mirrored, pieces, sizeof pieces);
  for (int n = 0; n < PIECES; ++n) {
    if (mirrored[n].local != NULL)
      mirrored[n].local = back + ((unsigned char*)pieces[n].local - here);
    for (uint64_t block = 0; block < pieces[n].count && pieces[n].block_bytes != 0; ++block)
      for (uint64_t at = 0; at < pieces[n].block_bytes; ++at) {
        const int64_t from = (unsigned char*)pieces[n].local - here +
                             (int64_t)block * pieces[n].local_stride + (int64_t)at;
        const int64_t to =
            (int64_t)(pieces[n].offset + block * (uint64_t)pieces[n].remote_stride + at);
        EXPECT(there[to] == expected[from]);
        there[to] = 0;
      }
  }
  for (size_t at = 0; at < BYTES; ++at) EXPECT(there[at] == 0);
  fill(there, BYTES, rank, 2);
  EXPECT(nagaya_comm_barrier() == 0);
  nagaya_llcl_pieces get = {places[(rank + 1) % size], mirrored, PIECES, nagaya_flag(&read)};
  ACCEPTED(nagaya_llcl_try_read_pieces(&get));
  EXPECT(nagaya_llcl_wait_flag(&read, 20000) == 0);
  fill(expected, BYTES, (rank + 1) % size, 2);
  for (int n = 0; n < PIECES; ++n)
    for (uint64_t block = 0; block < pieces[n].count && pieces[n].block_bytes != 0; ++block)
      EXPECT(
          memcmp((unsigned char*)mirrored[n].local + (int64_t)block * pieces[n].local_stride,
                 expected + (int64_t)(pieces[n].offset + block * (uint64_t)pieces[n].remote_stride),
                 pieces[n].block_bytes) == 0);
  EXPECT(nagaya_comm_barrier() == 0);
}

/* What was asked before a fence is visible after it, without any completion of its own. */
static void fences(void) {
  enum { WRITES = 500, BYTES = 20000 };
  static unsigned char there[WRITES * 8 + BYTES];
  unsigned char* const here = malloc(sizeof there);
  nagaya_remote* const places = share(there, sizeof there);
  for (int round = 0; round < 5; ++round) {
    fill(here, sizeof there, rank, round);
    for (size_t n = 0; n <= WRITES; ++n) {
      nagaya_llcl_transfer put = {
          places[(rank + 1) % size], here + n * 8, n == WRITES ? BYTES : 8, {0, NULL, NULL}};
      put.remote.offset = n * 8;
      ACCEPTED(nagaya_llcl_try_write(&put));
    }
    uint64_t fenced = 0;
    int called = 0;
    if (round == 0) ACCEPTED(nagaya_llcl_try_fence(right.node, nagaya_counter(&fenced)));
    if (round == 0) EXPECT(nagaya_llcl_wait_counter(&fenced, 1, 20000) == 0);
    if (round == 1) ACCEPTED(nagaya_llcl_try_fence(right.node, nagaya_callback(count_up, &called)));
    while (round == 1 && __atomic_load_n(&called, __ATOMIC_ACQUIRE) == 0) continue;
    if (round == 2) { /* too late or not, it may be asked again */
      const int error = nagaya_llcl_flush(right.node, 0);
      EXPECT(error == 0 || error == -ETIMEDOUT);
    }
    if (round >= 2) EXPECT(nagaya_llcl_flush(right.node, -1) == 0);
    EXPECT(nagaya_comm_barrier() == 0);
    EXPECT(is_filled(there, sizeof there, left_rank(), round));
    EXPECT(nagaya_comm_barrier() == 0);
  }
  EXPECT(nagaya_llcl_flush(1000, -1) == -EINVAL);
  EXPECT(nagaya_llcl_try_fence(1000, nagaya_counter(NULL)) == -EINVAL);
  free(here);
}

/* Each start transfers what the memory then holds. */
// All add to one word; each start of one process sees it grow.
static void prepared_atomics(void) {
  enum { ROUNDS = 500 };
  static uint64_t word;
  static uint32_t largest;
  nagaya_remote* const words = share(&word, sizeof word);
  nagaya_remote* const largests = share(&largest, sizeof largest);
  uint64_t before = 0, last = 0, done = 0;
  nagaya_llcl_atomic add = {words[0], NAGAYA_ADD, NAGAYA_UINT64,        3,
                            0,        &before,    nagaya_counter(&done)};
  nagaya_llcl_atomic raise = {largests[0], NAGAYA_MAX, NAGAYA_UINT32,        (uint64_t)rank + 7,
                              0,           NULL,       nagaya_counter(&done)};
  nagaya_llcl_prepared adding, raising;
  EXPECT(nagaya_llcl_prepare_atomic(&add, &adding) == 0);
  EXPECT(nagaya_llcl_prepare_atomic(&raise, &raising) == 0);
  EXPECT(nagaya_llcl_prepare_atomic(NULL, &adding) == -EINVAL);
  EXPECT(nagaya_llcl_prepare_atomic(&add, NULL) == -EINVAL);
  for (uint32_t round = 0; round < ROUNDS; ++round) {
    ACCEPTED(nagaya_llcl_try_start(&adding));
    ACCEPTED(nagaya_llcl_try_start(&raising));
    EXPECT(nagaya_llcl_wait_counter(&done, 2 * (round + 1), 20000) == 0);
    EXPECT(before % 3 == 0 && (round == 0 || before > last));
    last = before;
  }
  EXPECT(nagaya_comm_barrier() == 0);
  if (rank == 0) EXPECT(word == 3u * ROUNDS * (uint64_t)size && largest == (uint64_t)size + 6);
}

static void prepared_requests(void) {
  enum { LARGEST = 100000, ROUNDS = 40 };
  static unsigned char there[LARGEST + 8] __attribute__((aligned(8)));
  static unsigned char here[LARGEST + 8] __attribute__((aligned(8)));
  static unsigned char back[LARGEST + 8] __attribute__((aligned(8)));
  static uint64_t counter;
  nagaya_remote* const places = share(there, sizeof there);
  nagaya_remote* const counters = share(&counter, sizeof counter);
  const struct {
    size_t bytes, shift;
  } shapes[] = {{8, 0}, {8, 1}, {0, 0}, {1, 0}, {32, 4}, {33, 0}, {4096, 0}, {LARGEST, 3}};
  const int64_t to = (rank + 1) % size;
  uint32_t rounds = 0;
  uint64_t written = 0;
  for (size_t n = 0; n < sizeof shapes / sizeof *shapes; ++n) {
    const size_t bytes = shapes[n].bytes;
    uint32_t read = 0;
    int called = 0;
    nagaya_llcl_transfer transfer = {places[to], here + shapes[n].shift, bytes,
                                     nagaya_counter(&written)};
    transfer.remote.offset = shapes[n].shift;
    nagaya_llcl_prepared write, notify, get, call;
    EXPECT(nagaya_llcl_prepare_write(&transfer, &write) == 0);
    EXPECT(nagaya_llcl_prepare_write_notify(&transfer, &counters[to], &notify) == 0);
    transfer.on_complete = nagaya_callback(count_up, &called);
    EXPECT(nagaya_llcl_prepare_write(&transfer, &call) == 0);
    transfer.local = back + shapes[n].shift;
    transfer.on_complete = nagaya_flag(&read);
    EXPECT(nagaya_llcl_prepare_read(&transfer, &get) == 0);
    memset(&transfer, 0xee, sizeof transfer);
    for (int round = 0; round < ROUNDS; ++round) {
      fill(here + shapes[n].shift, bytes, rank, round);
      ACCEPTED(nagaya_llcl_try_start(round % 2 == 0 ? &notify : &write));
      EXPECT(nagaya_llcl_wait_counter(&written, ++rounds, 20000) == 0);
      read = 0;
      memset(back, 0, sizeof back);
      ACCEPTED(nagaya_llcl_try_start(&get));
      EXPECT(nagaya_llcl_wait_flag(&read, 20000) == 0);
      EXPECT(is_filled(back + shapes[n].shift, bytes, rank, round));
    }
    fill(here + shapes[n].shift, bytes, rank, ROUNDS);
    ACCEPTED(nagaya_llcl_try_start(&call));
    while (__atomic_load_n(&called, __ATOMIC_ACQUIRE) == 0) continue;
    EXPECT(nagaya_comm_barrier() == 0);
    EXPECT(is_filled(there + shapes[n].shift, bytes, left_rank(), ROUNDS));
    EXPECT(counter == (n + 1) * ROUNDS / 2 && written == rounds && called == 1);
    EXPECT(nagaya_comm_barrier() == 0);
  }
}

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

static void a_thread_ends_before_its_requests(void) {
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

static void more_threads_than_lanes(void) {
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

/* The child's exit runs destructors of what is its parent's. */
static void a_forked_child_ends_before_the_requests(void) {
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

/* What it has asked of others is dropped or refused, and disturbs nobody. */
static void a_process_ends_before_its_requests(void) {
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

/* Heard from the left neighbour, in order. */
static int heard;
static void hear(void* context, nagaya_process source, const void* data, size_t bytes) {
  const unsigned char* const body = data;
  EXPECT(context == &heard && nagaya_task_self() >= 0);
  EXPECT(bytes == sizeof heard || bytes == LONG_BYTES);
  int number;
  memcpy(&number, body, sizeof number);
  EXPECT(number == heard && (bytes != LONG_BYTES || body[LONG_BYTES - 1] == 77));
  (void)source;
  __atomic_store_n(&heard, heard + 1, __ATOMIC_RELEASE);
}

static void messages(void) {
  unsigned char* const body = calloc(1, LONG_BYTES);
  body[LONG_BYTES - 1] = 77;
  EXPECT(nagaya_llcl_handle(HANDLER, hear, &heard) == 0);
  EXPECT(nagaya_llcl_handle(HANDLER, hear, &heard) == -EEXIST);
  EXPECT(nagaya_comm_barrier() == 0);
  uint64_t sent = 0;
  for (int n = 0; n < MESSAGES; ++n) {
    unsigned char copy[sizeof n];
    memcpy(copy, &n, sizeof n);
    const size_t bytes = n % 100 == 99 ? LONG_BYTES : sizeof n;
    memcpy(body, &n, sizeof n);
    ACCEPTED(nagaya_llcl_try_message(right, HANDLER, bytes == LONG_BYTES ? body : copy, bytes,
                                     nagaya_counter(&sent)));
    EXPECT(nagaya_llcl_wait_counter(&sent, (uint32_t)n + 1, 20000) == 0);
  }
  while (__atomic_load_n(&heard, __ATOMIC_ACQUIRE) < MESSAGES) continue;
  EXPECT(nagaya_comm_barrier() == 0);
}

/* A thread that cannot be started is an error of the request that needs it, and of no later one. */
static void no_thread_for_a_handler(void) {
  struct rlimit all, none;
  EXPECT(geteuid() != 0 && getrlimit(RLIMIT_NPROC, &all) == 0);
  none = all;
  none.rlim_cur = 0;
  EXPECT(setrlimit(RLIMIT_NPROC, &none) == 0);
  EXPECT(nagaya_llcl_handle(HANDLER, hear, &heard) == -ENOMEM);
  EXPECT(setrlimit(RLIMIT_NPROC, &all) == 0);
  EXPECT(nagaya_llcl_handle(HANDLER, hear, &heard) == 0);
  EXPECT(nagaya_comm_barrier() == 0);
  const int first = 0;
  uint32_t sent = 0;
  ACCEPTED(nagaya_llcl_try_message(right, HANDLER, &first, sizeof first, nagaya_flag(&sent)));
  EXPECT(nagaya_llcl_wait_flag(&sent, 20000) == 0);
  while (__atomic_load_n(&heard, __ATOMIC_ACQUIRE) == 0) continue;
  EXPECT(nagaya_comm_barrier() == 0);
}

static int write_error(nagaya_remote place, const void* from, size_t bytes) {
  uint32_t flag = 0;
  nagaya_llcl_transfer put = {place, (void*)from, bytes, nagaya_flag(&flag)};
  int error;
  while ((error = nagaya_llcl_try_write(&put)) == -EAGAIN) continue;
  return error != 0 ? error : nagaya_llcl_wait_flag(&flag, 20000);
}

/* Each mistake is answered where it was made. */
static void misuse(void) {
  static uint64_t words[16];
  uint64_t value = 1;
  nagaya_remote* const all = share(words, sizeof words);
  nagaya_remote place = all[(rank + 1) % size];
  EXPECT(write_error(place, &value, sizeof value) == 0);
  place.offset = sizeof words - 4;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);
  place.offset = UINT64_MAX - 3;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);
  place.offset = 0;
  EXPECT(write_error(place, words, SIZE_MAX) == -EINVAL);
  EXPECT(write_error(place, words, (size_t)1 << 40) == -EINVAL);
  EXPECT(write_error(place, NULL, 8) == -EINVAL);
  place.region ^= 1 << 16;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);
  place = all[(rank + 1) % size];
  place.process.node = 1000;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);
  place = all[(rank + 1) % size];
  place.process.task = 100000;
  EXPECT(write_error(place, &value, sizeof value) == -EINVAL);

  EXPECT(nagaya_llcl_try_write(NULL) == -EINVAL);
  nagaya_remote none;
  EXPECT(nagaya_llcl_register(NULL, 8, &none) == -EINVAL);
  EXPECT(nagaya_llcl_register(words, 0, &none) == -EINVAL);
  EXPECT(nagaya_llcl_handle(256, hear, NULL) == -EINVAL);
  EXPECT(nagaya_llcl_handle(1, NULL, NULL) == -EINVAL);
  EXPECT(nagaya_comm_process(size, &right) == -EINVAL &&
         nagaya_comm_process(-1, &right) == -EINVAL);
  EXPECT(nagaya_llcl_pointer(&place, 8) == NULL);
  nagaya_llcl_atomic add = {.remote = all[rank], .operation = NAGAYA_XOR, .type = NAGAYA_DOUBLE};
  EXPECT(nagaya_llcl_try_atomic(&add) == -EINVAL);
  add.type = NAGAYA_UINT64;
  add.remote.offset = 4;
  EXPECT(nagaya_llcl_try_atomic(&add) == -EINVAL);
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(nagaya_llcl_deregister(&all[rank]) == 0);
  EXPECT(nagaya_llcl_deregister(&all[rank]) == -EINVAL);
  EXPECT(nagaya_comm_barrier() == 0);
  EXPECT(write_error(all[(rank + 1) % size], &value, sizeof value) == -EINVAL);
  EXPECT(nagaya_comm_barrier() == 0);
}

static int notify_error(nagaya_remote place, nagaya_remote counter) {
  static uint64_t value;
  uint32_t flag = 0;
  nagaya_llcl_transfer put = {place, &value, sizeof value, nagaya_flag(&flag)};
  int error;
  while ((error = nagaya_llcl_try_write_notify(&put, &counter)) == -EAGAIN) continue;
  return error != 0 ? error : nagaya_llcl_wait_flag(&flag, 20000);
}

static int piece_error(nagaya_remote place, nagaya_llcl_piece piece) {
  uint32_t flags[2] = {0, 0};
  nagaya_llcl_pieces what = {place, &piece, 1, nagaya_flag(&flags[0])};
  int errors[2];
  while ((errors[0] = nagaya_llcl_try_write_pieces(&what)) == -EAGAIN) continue;
  if (errors[0] == 0) errors[0] = nagaya_llcl_wait_flag(&flags[0], 20000);
  what.on_complete = nagaya_flag(&flags[1]);
  while ((errors[1] = nagaya_llcl_try_read_pieces(&what)) == -EAGAIN) continue;
  if (errors[1] == 0) errors[1] = nagaya_llcl_wait_flag(&flags[1], 20000);
  EXPECT(errors[0] == errors[1]);
  return errors[0];
}

static void misuse_of_pieces_and_notifications(void) {
  static uint64_t words[16];
  static unsigned char own[64];
  nagaya_remote* const all = share(words, sizeof words);
  const nagaya_remote place = all[(rank + 1) % size];
  nagaya_remote counter = place;
  EXPECT(notify_error(place, counter) == 0);
  counter.offset = sizeof words;
  EXPECT(notify_error(place, counter) == -EINVAL);
  counter.offset = 4;
  EXPECT(notify_error(place, counter) == -EINVAL);
  counter = place;
  counter.process.task += 1;
  EXPECT(notify_error(place, counter) == -EINVAL);
  counter = place;
  counter.region ^= 1 << 16;
  EXPECT(notify_error(place, counter) == -EINVAL);
  nagaya_llcl_transfer put = {place, words, 8, {0, NULL, NULL}};
  EXPECT(nagaya_llcl_try_write_notify(&put, NULL) == -EINVAL);

  const nagaya_llcl_piece wrong[] = {{own, sizeof words, 1, 1, 0, 0},
                                     {own, 0, 8, 17, 0, 8},
                                     {own, 0, 8, 2, 8, -8},
                                     {own, UINT64_MAX, 8, 1, 0, 0},
                                     {own, 0, UINT64_MAX, 1, 0, 0},
                                     {own, 0, 8, UINT64_MAX, 8, 8},
                                     {own, 0, 8, 3, INT64_MAX, 8},
                                     {own, 0, 8, 3, 8, INT64_MIN},
                                     {own, 0, 8, 1ull << 62, 8, 1 << 10},
                                     {NULL, 0, 8, 1, 0, 0}};
  for (size_t n = 0; n < sizeof wrong / sizeof *wrong; ++n)
    EXPECT(piece_error(place, wrong[n]) == -EINVAL);
  EXPECT(piece_error(place, (nagaya_llcl_piece){own, 0, 8, 2, 8, 120}) == 0);
  nagaya_remote behind = place;
  behind.offset = 8;
  EXPECT(piece_error(behind, (nagaya_llcl_piece){own, 0, 8, 2, 8, 120}) == -EINVAL);
  behind.offset = UINT64_MAX;
  EXPECT(piece_error(behind, (nagaya_llcl_piece){own, 1, 8, 1, 0, 0}) == -EINVAL);
  EXPECT(nagaya_llcl_try_write_pieces(NULL) == -EINVAL);
  nagaya_llcl_pieces none = {place, NULL, 1, {0, NULL, NULL}};
  EXPECT(nagaya_llcl_try_write_pieces(&none) == -EINVAL);
  none.count = 0;
  ACCEPTED(nagaya_llcl_try_write_pieces(&none));

  nagaya_llcl_prepared request;
  EXPECT(nagaya_llcl_prepare_write(NULL, &request) == -EINVAL);
  EXPECT(nagaya_llcl_prepare_write(&put, NULL) == -EINVAL);
  EXPECT(nagaya_llcl_prepare_write_notify(&put, NULL, &request) == -EINVAL);
  put.on_complete.kind = 77;
  EXPECT(nagaya_llcl_prepare_read(&put, &request) == -EINVAL);
  EXPECT(nagaya_comm_barrier() == 0);
}

static void every_allgather(void) {
  const size_t sizes[] = {0, 1, 8, 255, 256, 257, 5000};
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
    unsigned char* const own = malloc(sizes[n] + 1);
    unsigned char* const all = malloc(sizes[n] * (size_t)size + 1);
    for (size_t at = 0; at < sizes[n]; ++at) own[at] = (unsigned char)(at + (size_t)rank * 31);
    EXPECT(nagaya_comm_allgather(own, sizes[n], all) == 0);
    for (int64_t from = 0; from < size; ++from)
      for (size_t at = 0; at < sizes[n]; ++at)
        EXPECT(all[(size_t)from * sizes[n] + at] == (unsigned char)(at + (size_t)from * 31));
    free(own);
    free(all);
  }
  for (int n = 0; n < 1000; ++n) EXPECT(nagaya_comm_barrier() == 0);
}

static sigjmp_buf before_the_fault;
static void jump_back(int signal) {
  siglongjmp(before_the_fault, signal);
}

/* It is the caller that faults, and not what carries the request out; all others go on. */
static void wild_pointer(void) {
  static uint64_t words[16];
  nagaya_remote* const all = share(words, sizeof words);
  nagaya_llcl_transfer put = {all[(rank + 1) % size], (void*)64, sizeof words, {0, NULL, NULL}};
  signal(SIGSEGV, jump_back);
  if (sigsetjmp(before_the_fault, 1) == 0) {
    nagaya_llcl_try_write(&put);
    EXPECT(!"a fault");
  }
  EXPECT(nagaya_comm_barrier() == 0);
}

/* Somebody cuts a link meanwhile: nobody may wait for ever. */
static void until_a_node_is_lost(void) {
  printf("ready\n");
  fflush(stdout);
  int error;
  while ((error = nagaya_comm_barrier()) == 0) continue;
  printf("lost: %s\n", error == -EHOSTUNREACH || error == -ECONNRESET ? "unreachable" : "?");
  fflush(stdout);
  _exit(0);
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*act)(void);
  } acts[] = {{"spinning_on_a_callback", spinning_on_a_callback},
              {"every_size", every_size},
              {"atomics_of_many_threads", atomics_of_many_threads},
              {"every_operation", every_operation},
              {"messages", messages},
              {"notified_writes", notified_writes},
              {"every_piece", every_piece},
              {"fences", fences},
              {"prepared_requests", prepared_requests},
              {"prepared_atomics", prepared_atomics},
              {"a_thread_ends_before_its_requests", a_thread_ends_before_its_requests},
              {"more_threads_than_lanes", more_threads_than_lanes},
              {"a_forked_child_ends_before_the_requests", a_forked_child_ends_before_the_requests},
              {"a_process_ends_before_its_requests", a_process_ends_before_its_requests},
              {"no_thread_for_a_handler", no_thread_for_a_handler},
              {"misuse", misuse},
              {"misuse_of_pieces_and_notifications", misuse_of_pieces_and_notifications},
              {"every_allgather", every_allgather},
              {"wild_pointer", wild_pointer},
              {"until_a_node_is_lost", until_a_node_is_lost}};
  EXPECT(nagaya_comm_size() == -ESRCH && nagaya_comm_barrier() == -ESRCH);
  const int error = nagaya_comm_init();
  if (error != 0) fprintf(stderr, "nagaya_comm_init: %s\n", nagaya_error_text());
  EXPECT(error == 0 && nagaya_comm_init() == 0);
  rank = nagaya_comm_rank();
  size = nagaya_comm_size();
  EXPECT(nagaya_comm_process((rank + 1) % size, &right) == 0);
  for (size_t n = 0; n < sizeof acts / sizeof *acts; ++n)
    if (argc > 1 && strcmp(argv[1], acts[n].name) == 0) {
      acts[n].act();
      EXPECT(nagaya_comm_finalize() == 0);
      EXPECT(nagaya_comm_size() == -ESRCH && nagaya_comm_finalize() == -ESRCH);
      return 0;
    }
  fprintf(stderr, "no such act\n");
  return 2;
}
