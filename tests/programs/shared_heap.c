/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_heap.c - blocks of the space heap: aligned, owned, freed by any task. */
#include <stdint.h>

#include "meeting.h"

enum { kBlocks = 200 };

static char* blocks[kBlocks];

static size_t bytes_of(int n) {
  return (size_t)1 + (size_t)n * n * 7;
}

static void allocate_all(int self) {
  for (int n = 0; n < kBlocks; ++n) {
    blocks[n] = nagaya_heap_alloc(bytes_of(n));
    EXPECT(blocks[n] != NULL && (uintptr_t)blocks[n] % 64 == 0);
    EXPECT_EQUAL(nagaya_task_owner(blocks[n]), self);
    memset(blocks[n], 'a' + self, bytes_of(n));
  }
}

int main(void) {
  const int self = nagaya_task_self(), count = nagaya_task_count();
  const int other = (self + 1) % count;
  for (int round = 0; round < 10; ++round) {
    allocate_all(self);
    EXPECT_EQUAL(nagaya_task_publish("blocks", blocks), 0);
    meet();
    char** theirs = memory_of(other, "blocks");
    for (int n = 0; n < kBlocks; ++n) {
      for (size_t byte = 0; byte < bytes_of(n); ++byte) EXPECT_EQUAL(theirs[n][byte], 'a' + other);
      EXPECT_EQUAL(nagaya_task_owner(theirs[n]), other);
      EXPECT_EQUAL(nagaya_heap_free(theirs[n]), 0);
    }
    meet();
  }
  int own;
  EXPECT_EQUAL(nagaya_heap_free(NULL), 0);
  EXPECT_EQUAL(nagaya_heap_free(&own), -EINVAL);
  EXPECT(nagaya_heap_alloc(SIZE_MAX / 2) == NULL);
  printf("heap of %d sound\n", self);
  return 0;
}
