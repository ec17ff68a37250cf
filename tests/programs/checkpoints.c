/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoints.c MODE FOLDER - checkpoints of nagaya/checkpoint.h, by all tasks of a job.
 *
 *   all      every function; the first task prints one line at the end
 *   loop     without end: checkpoint after checkpoint; the first task says which is complete
 *   check    reads the checkpoint of `loop`, and prints its number
 */
#include <nagaya/checkpoint.h>
#include <nagaya/comm.h>
#include <nagaya/match.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "expect.h"

enum { WORDS = 100000, PIECES = 300, CONTEXT = 17 };

static uint32_t rank, size;
static int64_t words[WORDS];
static nagaya_processes* members;

static nagaya_checkpoint* opened(nagaya_checkpoint_layout layout) {
  nagaya_checkpoint* checkpoint = NULL;
  EXPECT_EQUAL(nagaya_comm_barrier(), 0); /* all have closed the last one of this context */
  EXPECT_EQUAL(nagaya_checkpoint_open(CONTEXT, members, layout, &checkpoint), 0);
  return checkpoint;
}

static int64_t word(int64_t turn, uint32_t of, int64_t n) {
  return turn * 1000003 + of * 7919 + n;
}
static void fill(int64_t turn, uint32_t of) {
  for (int64_t n = 0; n < WORDS; ++n) words[n] = word(turn, of, n);
}
/* Words of the checkpoint of a rank: each has another number, rank 1 none. */
static int64_t words_of(uint32_t of) {
  return of == 1 ? 0 : WORDS - of * 11;
}

/* In many pieces, some of them empty. */
static size_t cut(nagaya_checkpoint_piece* pieces, size_t wanted) {
  int64_t begin = 0;
  const int64_t all = words_of(rank);
  for (size_t n = 0; n < wanted; ++n) {
    const int64_t end = n + 1 == wanted ? all : all * (int64_t)(n * n) / (int64_t)(wanted * wanted);
    pieces[n] = (nagaya_checkpoint_piece){words + begin, (size_t)(end - begin) * sizeof *words};
    begin = end;
  }
  return wanted;
}

static void write_and_read(nagaya_checkpoint_layout layout, const char* path) {
  static nagaya_checkpoint_piece pieces[PIECES];
  nagaya_checkpoint* const checkpoint = opened(layout);
  for (int64_t turn = 0; turn < 3; ++turn) {
    fill(turn, rank);
    EXPECT_EQUAL(nagaya_checkpoint_write(checkpoint, path, pieces, cut(pieces, PIECES)), 0);
    EXPECT_EQUAL(nagaya_checkpoint_write(checkpoint, path, pieces, 0), -EBUSY);
    EXPECT_EQUAL(nagaya_checkpoint_wait(checkpoint), 0);
    memset(words, 0, sizeof words);
    EXPECT_EQUAL(nagaya_checkpoint_read(checkpoint, path, pieces, cut(pieces, 7)), 0);
    for (int64_t n = 0; n < words_of(rank); ++n) EXPECT_EQUAL(words[n], word(turn, rank, n));
  }
  EXPECT_EQUAL(nagaya_checkpoint_wait(checkpoint), 0);
  cut(pieces, 1);
  pieces[0].bytes += rank + 1 == size;
  EXPECT_EQUAL(nagaya_checkpoint_read(checkpoint, path, pieces, 1), -EMSGSIZE);
  EXPECT_EQUAL(nagaya_checkpoint_close(checkpoint), 0);
}

/* All ranks get the error of one. */
static void fail(void) {
  nagaya_checkpoint* const checkpoint = opened(NAGAYA_CHECKPOINT_SHARED);
  nagaya_checkpoint_piece own = {words, 8};
  EXPECT_EQUAL(nagaya_checkpoint_write(checkpoint, "no/such/folder", &own, 1), -ENOENT);
  EXPECT_EQUAL(nagaya_checkpoint_read(checkpoint, "missing", &own, 1), -ENOENT);
  EXPECT_EQUAL(nagaya_checkpoint_read(checkpoint, "/dev/zero", &own, 1), -EINVAL);
  EXPECT_EQUAL(nagaya_checkpoint_write(checkpoint, "kept", &own, 1), 0);
  EXPECT_EQUAL(nagaya_checkpoint_wait(checkpoint), 0);
  if (rank + 1 == size) own.data = (void*)16;
  EXPECT_EQUAL(nagaya_checkpoint_write(checkpoint, "kept", &own, 1), 0);
  EXPECT_EQUAL(nagaya_checkpoint_wait(checkpoint), -EFAULT);
  struct stat status;
  EXPECT(rank != 0 || stat("kept.new", &status) != 0); /* removed by the first rank */
  own.data = words;
  EXPECT_EQUAL(nagaya_checkpoint_read(checkpoint, "kept", &own, 1), 0);
  EXPECT_EQUAL(nagaya_checkpoint_close(checkpoint), 0);
  EXPECT_EQUAL(nagaya_checkpoint_close(NULL), -EINVAL);
  EXPECT_EQUAL(nagaya_checkpoint_wait(NULL), -EINVAL);
  EXPECT_EQUAL(nagaya_checkpoint_open(CONTEXT, NULL, NAGAYA_CHECKPOINT_SHARED, NULL), -EINVAL);
}

static void loop(void) {
  nagaya_checkpoint* const checkpoint = opened(NAGAYA_CHECKPOINT_SHARED);
  const nagaya_checkpoint_piece own = {words, sizeof words};
  for (int64_t turn = 0;; ++turn) {
    fill(turn, rank);
    EXPECT_EQUAL(nagaya_checkpoint_write(checkpoint, "loop", &own, 1), 0);
    EXPECT_EQUAL(nagaya_checkpoint_wait(checkpoint), 0);
    if (rank == 0) printf("%lld\n", (long long)turn);
    fflush(stdout);
  }
}

static void check(void) {
  nagaya_checkpoint* const checkpoint = opened(NAGAYA_CHECKPOINT_SHARED);
  const nagaya_checkpoint_piece own = {words, sizeof words};
  EXPECT_EQUAL(nagaya_checkpoint_read(checkpoint, "loop", &own, 1), 0);
  const int64_t turn = (words[0] - word(0, rank, 0)) / 1000003;
  for (int64_t n = 0; n < WORDS; ++n) EXPECT_EQUAL(words[n], word(turn, rank, n));
  printf("%lld\n", (long long)turn);
  EXPECT_EQUAL(nagaya_checkpoint_close(checkpoint), 0);
}

int main(int count, char** arguments) {
  EXPECT_EQUAL(count, 3);
  EXPECT_EQUAL(chdir(arguments[2]), 0);
  EXPECT_EQUAL(nagaya_comm_init(), 0);
  rank = (uint32_t)nagaya_comm_rank();
  size = (uint32_t)nagaya_comm_size();
  nagaya_process* const all = malloc(size * sizeof *all);
  for (uint32_t n = 0; n < size; ++n) EXPECT_EQUAL(nagaya_comm_process(n, &all[n]), 0);
  EXPECT_EQUAL(nagaya_processes_open(all, size, rank, &members), 0);
  if (nagaya_comm_nodes() > 1) EXPECT_EQUAL(nagaya_match_open(0), 0);
  if (strcmp(arguments[1], "all") == 0) {
    write_and_read(NAGAYA_CHECKPOINT_SHARED, "shared");
    write_and_read(NAGAYA_CHECKPOINT_PER_NODE, "node");
    fail();
    if (rank == 0) printf("checkpoints of %u\n", size);
  }
  if (strcmp(arguments[1], "loop") == 0) loop();
  if (strcmp(arguments[1], "check") == 0) check();
  EXPECT_EQUAL(nagaya_processes_close(members), 0);
  EXPECT_EQUAL(nagaya_comm_finalize(), 0);
  free(all);
  return 0;
}
