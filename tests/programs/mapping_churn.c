// SPDX-License-Identifier: BSD-3-Clause
// Threads of a task map, grow, move and unmap at once. Every byte must stay where it was put, and
// every mapping must lie in the task's own partition. Bugs that this has caught: a move replaced
// what another thread had grown into (MREMAP_FIXED replaces what it finds); the lock of the
// partition gave up on a loaded machine, and mappings escaped.
#include <nagaya/task.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { THREADS = 4, STEPS = 20000, MAPPINGS = 64, PAGES_MAX = 300, PAGE_BYTES = 4096 };

struct mapping {
  unsigned char* bytes; /* NULL: none */
  size_t size;
  unsigned char mark; /* stands in the first and the last byte */
};

static void fail(const char* what) {
  fprintf(stderr, "task %d: %s\n", nagaya_task_self(), what);
  exit(1);
}

static size_t random_size(unsigned* seed) {
  return (size_t)PAGE_BYTES * (1 + (size_t)rand_r(seed) % PAGES_MAX);
}

static void place(struct mapping* m, void* at, size_t size) {
  if (at == MAP_FAILED) fail("a mapping was refused");
  if (nagaya_task_owner(at) != nagaya_task_self()) fail("a mapping lies outside the partition");
  m->bytes = at;
  m->size = size;
}

static void map(struct mapping* m, unsigned* seed) {
  const size_t size = random_size(seed);
  place(m, mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), size);
  m->mark = (unsigned char)rand_r(seed);
  m->bytes[0] = m->bytes[size - 1] = m->mark;
}

static void resize(struct mapping* m, unsigned* seed) {
  const size_t size = random_size(seed);
  place(m, mremap(m->bytes, m->size, size, MREMAP_MAYMOVE), size);
  if (m->bytes[0] != m->mark) fail("a moved mapping lost its data");
  m->bytes[size - 1] = m->mark;
}

static void* churn(void* number) {
  unsigned seed = (unsigned)(size_t)number + 10 * (unsigned)nagaya_task_self();
  struct mapping mappings[MAPPINGS] = {{0}};
  for (int step = 0; step < STEPS; ++step) {
    struct mapping* m = &mappings[rand_r(&seed) % MAPPINGS];
    if (m->bytes == NULL) {
      map(m, &seed);
      continue;
    }
    if (m->bytes[0] != m->mark || m->bytes[m->size - 1] != m->mark) fail("data were overwritten");
    if (rand_r(&seed) % 3 == 0) {
      resize(m, &seed);
    } else {
      munmap(m->bytes, m->size);
      m->bytes = NULL;
    }
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (size_t n = 0; n < THREADS; ++n) pthread_create(&threads[n], NULL, churn, (void*)(n + 1));
  for (size_t n = 0; n < THREADS; ++n) pthread_join(threads[n], NULL);
  return 0;
}
