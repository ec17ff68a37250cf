/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.c - every task reads and writes the globals and the heap of every other through plain
 * pointers, and nobody's own copies get mixed up by it. */
#include <stdlib.h>

#include "meeting.h"

enum { kTasksMax = 64, kWords = 4096 };

static int board[kTasksMax]; /* board[n]: written by task n */
static int signature;        /* the same name in every task, another value in each */

static void publish_own(int self, int* heap) {
  signature = 1000 + self;
  for (int n = 0; n < kWords; ++n) heap[n] = self * kWords + n;
  EXPECT_EQUAL(nagaya_task_publish("board", board), 0);
  EXPECT_EQUAL(nagaya_task_publish("signature", &signature), 0);
  EXPECT_EQUAL(nagaya_task_publish("heap", heap), 0);
}

static void read_other(int other) {
  const int* heap = memory_of(other, "heap");
  EXPECT_EQUAL(*(int*)memory_of(other, "signature"), 1000 + other);
  for (int n = 0; n < kWords; ++n) EXPECT_EQUAL(heap[n], other * kWords + n);
  EXPECT_EQUAL(nagaya_task_owner(heap), other);
  EXPECT_EQUAL(nagaya_task_owner(memory_of(other, "signature")), other);
}

int main(void) {
  const int self = nagaya_task_self();
  const int count = nagaya_task_count();
  EXPECT(self >= 0 && self < count && count <= kTasksMax);
  int* heap = malloc(kWords * sizeof *heap);
  publish_own(self, heap);
  for (int other = 0; other < count; ++other) read_other(other);
  meet();
  for (int other = 0; other < count; ++other) {
    ((int*)memory_of(other, "board"))[self] = 10 * self + other;
    ((int*)memory_of(other, "heap"))[self] = -self;
  }
  meet();
  for (int other = 0; other < count; ++other) {
    EXPECT_EQUAL(board[other], 10 * other + self);
    EXPECT_EQUAL(heap[other], -other);
  }
  EXPECT_EQUAL(signature, 1000 + self);
  meet();
  free(heap);
  printf("shared by %d of %d\n", self, count);
  return 0;
}
