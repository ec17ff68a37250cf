/* SPDX-License-Identifier: BSD-3-Clause */
/* transfers.c - reads and writes of `requests`: every size and shape, every completion. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "requests.h"

/* A single thread that only spins on its own flag, which its callback sets. */
void spinning_on_a_callback(void) {
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

void every_size(void) {
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

/* A process that has counted the notification finds the data. In every third round the waiter has
 * long been asleep. */
void notified_writes(void) {
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
void every_piece(void) {
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

/* A write before a fence is visible after it, without any completion of its own. */
void fences(void) {
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

/* The copy of a prepared request is not inline where memcpy() is slow: if its target lies a few
 * bytes further on in its page than its source. */
static void prepared_copies_avoid_slow_places(const nagaya_remote* to, unsigned char* target,
                                              unsigned char* from) {
  enum { PAGE = 4096, BYTES = 2048 };
  uint32_t flag = 0;
  nagaya_llcl_prepared request;
  for (uintptr_t further = 0; further <= 128; further += 8) {
    unsigned char* const source = from + ((uintptr_t)target - further - (uintptr_t)from) % PAGE;
    const nagaya_llcl_transfer transfer = {*to, source, BYTES, nagaya_flag(&flag)};
    EXPECT(nagaya_llcl_prepare_write(&transfer, &request) == 0);
    const int is_slow = 0 < further && further < 64;
    EXPECT(request.way == (is_slow ? NAGAYA_LLCL_CALL : NAGAYA_LLCL_COPY));
  }
}

/* Each start transfers what the memory then holds. */
void prepared_requests(void) {
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
  prepared_copies_avoid_slow_places(&places[rank], there, here);
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

static sigjmp_buf before_the_fault;
static void jump_back(int signal) {
  siglongjmp(before_the_fault, signal);
}

/* The caller faults, and not the thread that carries the request out; all others go on. */
void wild_pointer(void) {
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
