/* SPDX-License-Identifier: BSD-3-Clause */
/* partitions.c - without arguments: a task's memory lies in its partition, and no other task can
 * unmap, replace, move, protect, empty or lock it through its libc.
 *
 *   partitions fixed | noreplace | segment
 *                    two tasks, one after the other, want memory at the same address, which lies in
 *                    no partition */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "meeting.h"

enum { kBytes = 1 << 20 };

static int of_data = 1;

static int within(int task, const void* address) {
  nagaya_range ranges[2];
  EXPECT_EQUAL(nagaya_task_partition(task, ranges), 0);
  for (int n = 0; n < 2; ++n)
    if ((const char*)address >= (char*)ranges[n].base &&
        (const char*)address < (char*)ranges[n].base + ranges[n].bytes)
      return 1;
  return 0;
}

static void* stack_of_thread(void* self) {
  int here;
  EXPECT(within(*(int*)self, &here));
  return NULL;
}

static void check_own_memory(int self) {
  int on_stack;
  void *const small = malloc(100), *const large = malloc(100 << 20);
  void* const mapped = mmap(NULL, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const void* const all[] = {&of_data, &on_stack, small,          large,
                             mapped,   &errno,    (void*)&printf, (void*)&within};
  for (size_t n = 0; n < sizeof all / sizeof *all; ++n) {
    EXPECT(within(self, all[n]));
    EXPECT_EQUAL(nagaya_task_owner(all[n]), self);
  }
  pthread_t thread;
  EXPECT_EQUAL(pthread_create(&thread, NULL, stack_of_thread, &self), 0);
  EXPECT_EQUAL(pthread_join(thread, NULL), 0);
  free(small);
  free(large);
  EXPECT_EQUAL(munmap(mapped, kBytes), 0);
  EXPECT_EQUAL(nagaya_task_owner((void*)0x1000), -ENOENT);
}

static void check_refusals(char* theirs) {
  errno = 0;
  EXPECT_EQUAL(munmap(theirs, kBytes), -1);
  EXPECT_EQUAL(errno, EPERM);
  errno = 0;
  EXPECT(mmap(theirs, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
         MAP_FAILED);
  EXPECT_EQUAL(errno, EPERM);
  errno = 0;
  EXPECT(mremap(theirs, kBytes, 2 * kBytes, MREMAP_MAYMOVE) == MAP_FAILED);
  EXPECT_EQUAL(errno, EPERM);
}

static void expect_refused(int result) {
  EXPECT_EQUAL(result, -1);
  EXPECT_EQUAL(errno, EPERM);
  errno = 0;
}

/* `place`: memory of another task, or that reaches into it. */
static void check_refused_changes(char* place) {
  errno = 0;
  expect_refused(mprotect(place, kBytes, PROT_NONE));
  expect_refused(pkey_mprotect(place, kBytes, PROT_NONE, 0));
  expect_refused(madvise(place, kBytes, MADV_DONTNEED));
  expect_refused(madvise(place, kBytes, MADV_DONTFORK));
  expect_refused(mlock(place, kBytes));
  expect_refused(mlock2(place, kBytes, MLOCK_ONFAULT));
  expect_refused(munlock(place, kBytes));
}

static void check_own_changes(void) {
  char* const own = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(own, 1, kBytes);
  EXPECT_EQUAL(mprotect(own, kBytes, PROT_READ), 0);
  EXPECT_EQUAL(mprotect(own, kBytes, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQUAL(madvise(own, kBytes, MADV_DONTNEED), 0);
  EXPECT_EQUAL(own[4096], 0);
  EXPECT_EQUAL(mlock(own, 4096), 0);
  EXPECT_EQUAL(munlock(own, 4096), 0);
  EXPECT_EQUAL(munmap(own, kBytes), 0);
}

// Neither there, nor from the end of the own home into the next one.
static void check_refused_segments(const nagaya_range* home, char* theirs) {
  const int segment = shmget(IPC_PRIVATE, kBytes, IPC_CREAT | 0600);
  EXPECT(segment >= 0);
  char* const places[] = {theirs, (char*)home->base + home->bytes - 4096};
  for (int n = 0; n < 2; ++n) {
    errno = 0;
    EXPECT(shmat(segment, places[n], SHM_REMAP) == (void*)-1);
    EXPECT_EQUAL(errno, EPERM);
  }
  errno = 0;
  EXPECT_EQUAL(shmdt(theirs), -1);
  EXPECT_EQUAL(errno, EPERM);
  EXPECT_EQUAL(shmctl(segment, IPC_RMID, NULL), 0);
}

/* MAP_FAILED: refused. */
static char* map_at(char* place, const char* how) {
  if (strcmp(how, "segment") == 0) {
    const int segment = shmget(IPC_PRIVATE, kBytes, IPC_CREAT | 0600);
    char* const attached = shmat(segment, place, 0);
    shmctl(segment, IPC_RMID, NULL);
    return attached;
  }
  const int flags = strcmp(how, "fixed") == 0 ? MAP_FIXED : MAP_FIXED_NOREPLACE;
  return mmap(place, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static int choose_address(const char* how) {
  char* const place = (char*)0x600000000000;
  const int is_task = nagaya_task_self() >= 0;
  if (is_task && nagaya_task_self() != 0) meet();
  char* const got = map_at(place, how);
  if (got == place) memset(place, 'a', kBytes);
  printf("%s\n", got == place ? "mapped" : strerror(errno));
  if (got == place) EXPECT(map_at(place + 4096, "fixed") == place + 4096); /* its own again */
  if (is_task && nagaya_task_self() == 0) meet();
  if (is_task) meet();
  if (got == place) EXPECT_EQUAL(*place, 'a');
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return choose_address(argv[1]);
  const int self = nagaya_task_self(), count = nagaya_task_count();
  nagaya_range ranges[2];
  check_own_memory(self);
  EXPECT_EQUAL(nagaya_task_partition(-1, ranges), -EINVAL);
  EXPECT_EQUAL(nagaya_task_partition(1 << 20, ranges), -EINVAL);
  char* mine = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(mine, 'a' + self, kBytes);
  EXPECT_EQUAL(nagaya_task_publish("mapped", mine), 0);
  meet();
  const int other = (self + 1) % count;
  char* theirs = memory_of(other, "mapped");
  EXPECT(!within(self, theirs) && within(other, theirs));
  check_refusals(theirs);
  check_refused_changes(theirs);
  check_own_changes();
  EXPECT_EQUAL(nagaya_task_partition(self, ranges), 0);
  check_refused_segments(&ranges[0], theirs);
  check_refused_changes((char*)ranges[0].base + ranges[0].bytes - 4096);
  meet();
  for (int n = 0; n < kBytes; ++n) EXPECT_EQUAL(mine[n], 'a' + self);
  printf("partition of %d kept\n", self);
  return 0;
}
