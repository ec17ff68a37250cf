/* SPDX-License-Identifier: BSD-3-Clause */
/* files.c MODE FOLDER - files of nagaya/file.h, by all tasks of a job.
 *
 *   all      every function, with threads; the first task prints one line at the end
 *   full     the first task writes more than the file system of FOLDER has room for
 *   leave    all tasks end without waiting for their writes
 *   write    without end: each task writes block after block, 64 KiB each, and says which is
 * complete idle     writes to a file, says "ready", and stays
 */
#include <fcntl.h>
#include <nagaya/comm.h>
#include <nagaya/file.h>
#include <nagaya/match.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "expect.h"

enum { PIECES = 200, PIECE_MAX = 5000, LONG_BYTES = 20 << 20, BLOCK = 64 << 10, THREADS = 4 };

static int64_t rank, size;

static void barrier(void) {
  EXPECT_EQUAL(nagaya_comm_barrier(), 0);
}

static nagaya_file* opened(const char* name, int flags) {
  nagaya_file* file = NULL;
  EXPECT_EQUAL(nagaya_file_open(name, flags, 0640, &file), 0);
  return file;
}

static void finish(const nagaya_file_request* request, int error, uint64_t bytes) {
  EXPECT_EQUAL(nagaya_file_wait(request, -1), error);
  EXPECT_EQUAL(request->bytes, bytes);
  EXPECT_EQUAL(nagaya_file_test(request), error == 0 ? 1 : error);
}

static void write_now(nagaya_file* file, const void* data, size_t bytes, int64_t offset) {
  nagaya_file_request request;
  EXPECT_EQUAL(nagaya_file_write(file, data, bytes, offset, &request), 0);
  finish(&request, 0, bytes);
}

static void read_now(nagaya_file* file, void* data, size_t bytes, int64_t offset, size_t there) {
  nagaya_file_request request;
  EXPECT_EQUAL(nagaya_file_read(file, data, bytes, offset, &request), 0);
  finish(&request, 0, there);
}

static void sync_now(nagaya_file* file) {
  nagaya_file_request request;
  EXPECT_EQUAL(nagaya_file_sync(file, &request), 0);
  finish(&request, 0, 0);
}

static unsigned char byte_at(int64_t offset) {
  return (unsigned char)(offset * 31 + (offset >> 8) + 7);
}

static void fill(unsigned char* data, size_t bytes, int64_t offset) {
  for (size_t n = 0; n < bytes; ++n) data[n] = byte_at(offset + (int64_t)n);
}

static void check(const unsigned char* data, size_t bytes, int64_t offset) {
  for (size_t n = 0; n < bytes; ++n)
    if (data[n] != byte_at(offset + (int64_t)n)) {
      fprintf(stderr, "byte %lld is wrong\n", (long long)(offset + (int64_t)n));
      _exit(1);
    }
}

/* ---- one file by all tasks ------------------------------------------------------------------- */

/* Piece n of all is task n % size's. Their sizes differ. */
static size_t piece_bytes(int64_t n) {
  return (size_t)(n * 7919 % PIECE_MAX);
}

static int64_t write_pieces(nagaya_file* file) {
  static nagaya_file_request requests[PIECES];
  static unsigned char data[PIECES][PIECE_MAX];
  int64_t offset = 0, own = 0;
  for (int64_t n = 0; n < PIECES * size; ++n) {
    const size_t bytes = piece_bytes(n);
    if (n % size == rank) {
      fill(data[own], bytes, offset);
      EXPECT_EQUAL(nagaya_file_write(file, data[own], bytes, offset, &requests[own]), 0);
      ++own;
    }
    offset += (int64_t)bytes;
  }
  for (int64_t n = 0; n < own; ++n) finish(&requests[n], 0, piece_bytes(rank + n * size));
  return offset;
}

static void share_a_file(void) {
  nagaya_file* const file = opened("shared", O_RDWR | O_CREAT);
  const int64_t bytes = write_pieces(file);
  sync_now(file);
  barrier();
  struct stat status;
  EXPECT_EQUAL(stat("shared", &status), 0);
  EXPECT_EQUAL(status.st_size, bytes);
  EXPECT_EQUAL(status.st_mode & 0777, 0640);
  unsigned char* const all = malloc((size_t)bytes + 100);
  read_now(file, all, (size_t)bytes + 100, 0, (size_t)bytes);
  check(all, (size_t)bytes, 0);
  read_now(file, all, 100, bytes, 0);
  free(all);
  EXPECT_EQUAL(nagaya_file_close(file), 0);
  barrier();
}

/* More than one transfer of the host's takes. */
static void write_long(void) {
  nagaya_file* const file = opened("long", O_RDWR | O_CREAT);
  const int64_t offset = rank * LONG_BYTES;
  unsigned char* const data = malloc(LONG_BYTES);
  fill(data, LONG_BYTES, offset);
  nagaya_file_request written, synced;
  EXPECT_EQUAL(nagaya_file_write(file, data, LONG_BYTES, offset, &written), 0);
  EXPECT_EQUAL(nagaya_file_sync(file, &synced), 0);
  finish(&synced, 0, 0);
  EXPECT_EQUAL(nagaya_file_test(&written), 1); /* the sync came after it */
  barrier();
  const int64_t next = (rank + 1) % size * LONG_BYTES;
  memset(data, 0, LONG_BYTES);
  read_now(file, data, LONG_BYTES, next, LONG_BYTES);
  check(data, LONG_BYTES, next);
  free(data);
  EXPECT_EQUAL(nagaya_file_close(file), 0);
  barrier();
}

/* ---- one task -------------------------------------------------------------------------------- */

static void* write_in_a_thread(void* of) {
  nagaya_file* const file = of;
  static int64_t threads;
  const int64_t first = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) * PIECES;
  for (int64_t n = first; n < first + PIECES; ++n) write_now(file, &n, sizeof n, n * 8);
  return NULL;
}

static void write_by_threads(const char* own) {
  nagaya_file* const file = opened(own, O_RDWR | O_CREAT | O_TRUNC);
  pthread_t threads[THREADS];
  for (int n = 0; n < THREADS; ++n)
    EXPECT_EQUAL(pthread_create(&threads[n], NULL, write_in_a_thread, file), 0);
  for (int n = 0; n < THREADS; ++n) EXPECT_EQUAL(pthread_join(threads[n], NULL), 0);
  int64_t all[THREADS * PIECES];
  read_now(file, all, sizeof all, 0, sizeof all);
  for (int64_t n = 0; n < THREADS * PIECES; ++n) EXPECT_EQUAL(all[n], n);
  EXPECT_EQUAL(nagaya_file_close(file), 0);
}

/* A close waits for what was made before it; -EAGAIN comes before a request is lost. */
static void close_with_pending_requests(const char* own) {
  enum { MANY = 2000 };
  static nagaya_file_request requests[MANY];
  static int64_t values[MANY];
  nagaya_file* const file = opened(own, O_RDWR | O_CREAT | O_TRUNC);
  for (int64_t n = 0; n < MANY; ++n) {
    values[n] = n;
    int error;
    while ((error = nagaya_file_write(file, &values[n], 8, (MANY - n) * 16, &requests[n])) ==
           -EAGAIN)
      EXPECT_EQUAL(nagaya_file_wait(&requests[0], -1), 0);
    EXPECT_EQUAL(error, 0);
  }
  EXPECT_EQUAL(nagaya_file_close(file), 0);
  for (int64_t n = 0; n < MANY; ++n) EXPECT_EQUAL(nagaya_file_test(&requests[n]), 1);
}

static void refuse_mistakes(const char* own) {
  nagaya_file *file, *none = NULL;
  nagaya_file_request request;
  char byte = 0;
  EXPECT_EQUAL(nagaya_file_open("no/such/file", O_RDONLY, 0, &none), -ENOENT);
  EXPECT_EQUAL(nagaya_file_open(own, O_WRONLY | O_CREAT | O_EXCL, 0600, &none), -EEXIST);
  EXPECT_EQUAL(nagaya_file_open(own, O_WRONLY | O_APPEND, 0, &none), -EINVAL);
  EXPECT_EQUAL(nagaya_file_open(NULL, O_RDONLY, 0, &none), -EINVAL);
  EXPECT_EQUAL(nagaya_file_close(NULL), -EINVAL);
  EXPECT_EQUAL(nagaya_file_wait(NULL, -1), -EINVAL);
  EXPECT_EQUAL(nagaya_file_test(NULL), -EINVAL);
  file = opened(own, O_RDONLY);
  EXPECT_EQUAL(nagaya_file_read(file, NULL, 1, 0, &request), -EINVAL);
  EXPECT_EQUAL(nagaya_file_read(file, &byte, 1, -1, &request), -EINVAL);
  EXPECT_EQUAL(nagaya_file_read(file, &byte, SIZE_MAX, 1, &request), -EINVAL);
  EXPECT_EQUAL(nagaya_file_read(file, &byte, 1, 0, NULL), -EINVAL);
  EXPECT_EQUAL(nagaya_file_sync(NULL, &request), -EINVAL);
  EXPECT_EQUAL(nagaya_file_write(file, &byte, 1, 0, &request), 0);
  finish(&request, -EBADF, 0);
  EXPECT_EQUAL(nagaya_file_write(file, NULL, 0, 5, &request), 0);
  finish(&request, 0, 0);
  EXPECT_EQUAL(nagaya_file_close(file), 0);
}

/* The errors of requests that the host has accepted. Neighbours of such a request are carried out.
 */
static void report_errors(const char* own) {
  const size_t page = 4096;
  unsigned char* const data =
      mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  fill(data, 4 * page, 0);
  EXPECT_EQUAL(mprotect(data + page, page, PROT_NONE), 0);
  nagaya_file_request parts[3];
  nagaya_file* file = opened(own, O_RDWR | O_CREAT | O_TRUNC);
  EXPECT_EQUAL(nagaya_file_write(file, data, page, 0, &parts[0]), 0);
  EXPECT_EQUAL(nagaya_file_write(file, data + page, page, (int64_t)page, &parts[1]), 0);
  EXPECT_EQUAL(nagaya_file_write(file, data + 2 * page, page, 2 * (int64_t)page, &parts[2]), 0);
  finish(&parts[0], 0, page);
  finish(&parts[1], -EFAULT, 0);
  finish(&parts[2], 0, page);
  EXPECT_EQUAL(nagaya_file_write(file, data, 2 * page, 0, &parts[0]), 0);
  finish(&parts[0], -EFAULT, page);
  EXPECT_EQUAL(nagaya_file_close(file), 0);

  file = opened("/dev/full", O_WRONLY);
  EXPECT_EQUAL(nagaya_file_write(file, data, page, 0, &parts[0]), 0);
  finish(&parts[0], -ENOSPC, 0);
  EXPECT_EQUAL(nagaya_file_close(file), 0);

  struct rlimit before, limit;
  EXPECT_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = before;
  limit.rlim_cur = 2 * page;
  EXPECT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
  file = opened(own, O_WRONLY);
  write_now(file, data, page, (int64_t)page);
  EXPECT_EQUAL(nagaya_file_write(file, data, page, (int64_t)page + 1, &parts[0]), -EFBIG);
  EXPECT_EQUAL(nagaya_file_close(file), 0);
  EXPECT_EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static void* stay_out_of_a_fork(void* of) {
  nagaya_file_request request;
  char byte = 0;
  const pid_t child = fork();
  if (child == 0) _exit(nagaya_file_write(of, &byte, 1, 0, &request) == -ESRCH ? 0 : 1);
  int status;
  EXPECT_EQUAL(waitpid(child, &status, 0), child);
  EXPECT_EQUAL(status, 0);
  return NULL;
}

static void do_all(void) {
  char own[32];
  snprintf(own, sizeof own, "own.%lld", (long long)rank);
  share_a_file();
  write_long();
  write_by_threads(own);
  close_with_pending_requests(own);
  refuse_mistakes(own);
  report_errors(own);
  nagaya_file* const file = opened(own, O_WRONLY);
  stay_out_of_a_fork(file);
  EXPECT_EQUAL(nagaya_file_close(file), 0);
  barrier();
  if (rank == 0) printf("files of %lld\n", (long long)size);
}

/* ---- the other modes ------------------------------------------------------------------------- */

/* Small pieces first, so that the one that does not fit is one of many in a transfer. */
static void fill_up(void) {
  enum { MANY = 200 };
  static nagaya_file_request requests[MANY];
  static unsigned char data[MANY * BLOCK];
  nagaya_file* const file = opened("full", O_RDWR | O_CREAT);
  fill(data, sizeof data, 0);
  for (int64_t n = 0; n < MANY; ++n)
    EXPECT_EQUAL(nagaya_file_write(file, data + n * BLOCK, BLOCK, n * BLOCK, &requests[n]), 0);
  int whole = 0, failed = 0;
  for (int64_t n = 0; n < MANY; ++n) {
    const int error = nagaya_file_wait(&requests[n], -1);
    if (error == 0) {
      unsigned char there[BLOCK];
      read_now(file, there, BLOCK, n * BLOCK, BLOCK);
      check(there, BLOCK, n * BLOCK);
      ++whole;
    } else {
      EXPECT_EQUAL(error, -ENOSPC);
      ++failed;
    }
  }
  EXPECT(whole > 0 && failed > 0);
  EXPECT_EQUAL(nagaya_file_close(file), 0);
  printf("the file system is full\n");
}

static void leave(void) {
  enum { MANY = 100 };
  static nagaya_file_request requests[MANY];
  unsigned char* const data = malloc(LONG_BYTES);
  nagaya_file* const file = opened("left", O_RDWR | O_CREAT);
  for (int64_t n = 0; n < MANY; ++n) {
    const int64_t offset = (rank * MANY + n) % 8 * LONG_BYTES;
    EXPECT_EQUAL(nagaya_file_write(file, data, LONG_BYTES, offset, &requests[n]), 0);
  }
  _exit(0);
}

static void write_for_ever(void) {
  enum { AT_ONCE = 8, PLACES = 64 };
  static nagaya_file_request requests[AT_ONCE];
  static int64_t blocks[AT_ONCE][BLOCK / 8];
  nagaya_file* const file = opened("written", O_RDWR | O_CREAT);
  for (int64_t turn = 0;; ++turn) {
    const int64_t n = turn % AT_ONCE, done = turn - AT_ONCE;
    if (done >= 0) {
      finish(&requests[n], 0, BLOCK);
      char line[64];
      const int length =
          snprintf(line, sizeof line, "%lld %lld\n", (long long)rank, (long long)done);
      EXPECT_EQUAL(write(1, line, (size_t)length), length);
    }
    for (int64_t word = 0; word < BLOCK / 8; ++word) blocks[n][word] = turn;
    const int64_t place = turn % PLACES * size + rank;
    EXPECT_EQUAL(nagaya_file_write(file, blocks[n], BLOCK, place * BLOCK, &requests[n]), 0);
  }
}

static void stay_idle(void) {
  nagaya_file* const file = opened("idle", O_RDWR | O_CREAT);
  write_now(file, &rank, sizeof rank, 8 * rank);
  printf("ready\n");
  fflush(stdout);
  pause();
}

int main(int count, char** words) {
  EXPECT_EQUAL(count, 3);
  EXPECT_EQUAL(chdir(words[2]), 0);
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  rank = nagaya_comm_rank();
  size = nagaya_comm_size();
  if (strcmp(words[1], "all") == 0) do_all();
  if (strcmp(words[1], "full") == 0) fill_up();
  if (strcmp(words[1], "leave") == 0) leave();
  if (strcmp(words[1], "write") == 0) write_for_ever();
  if (strcmp(words[1], "idle") == 0) stay_idle();
  EXPECT_EQUAL(nagaya_comm_finalize(), 0);
  return 0;
}
