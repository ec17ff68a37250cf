/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c ACT - what nagaya/llcl.h promises, one promise an act; run by every process of a job.
 * Prints nothing unless something is wrong. */
#include <errno.h>
#include <nagaya/comm.h>
#include <nagaya/task.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
              {"misuse", misuse},
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
