// SPDX-License-Identifier: BSD-3-Clause
// Acts of programs that manage memory by themselves.
#define _GNU_SOURCE
#include <fcntl.h>
#if __has_include(<linux/userfaultfd.h>)  // not for musl
#include <linux/userfaultfd.h>
#endif
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acts.h"

enum { kPage = 4096, kMega = 1 << 20 };

static char* map(void* at, size_t bytes, int flags) {
  return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void map_32bit(void) {
  for (int n = 0; n < 4; ++n) {
    char* at = map(NULL, kMega, MAP_32BIT);
    EXPECT(at != MAP_FAILED && (uintptr_t)at < (1ull << 31));
    memset(at, n, kMega);
    EXPECT(munmap(at, kMega) == 0);
  }
}

// As arenas do it: reserve much, then lay fixed maps into the reservation.
static void map_fixed(void) {
  char* arena =
      mmap(NULL, 64 * kMega, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT(arena != MAP_FAILED);
  for (int n = 0; n < 64; n += 2) {
    char* at = arena + (size_t)n * kMega;
    EXPECT(map(at, kMega, MAP_FIXED) == at);
    memset(at, n, kMega);
    EXPECT(munmap(at, kMega) == 0);
    EXPECT(map(at, kPage, MAP_FIXED_NOREPLACE) == at);
    EXPECT(map(at, kPage, MAP_FIXED_NOREPLACE) == MAP_FAILED && errno == EEXIST);
  }
  EXPECT(munmap(arena, 64 * kMega) == 0);
}

// A free address as a hint is where the mapping goes.
static void map_hint(void) {
  char* first = map(NULL, 8 * kPage, 0);
  EXPECT(first != MAP_FAILED && munmap(first + 4 * kPage, 4 * kPage) == 0);
  char* second = map(first + 4 * kPage, 4 * kPage, 0);
  printf("hint taken %d\n", second == first + 4 * kPage);
}

static void remap(void) {
  char* at = map(NULL, kMega, 0);
  for (size_t mega = 1; mega < 64; mega *= 2) {
    memset(at + (mega - 1) * kMega, (int)mega, kMega);
    at = mremap(at, mega * kMega, 2 * mega * kMega, MREMAP_MAYMOVE);
    EXPECT(at != MAP_FAILED && at[(mega - 1) * kMega] == (char)mega);
  }
  char* target = map(NULL, 2 * kMega, 0);
  EXPECT(mremap(at, kMega, kMega, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target);
  EXPECT(target[0] == 1);
  EXPECT(mremap(target, 2 * kMega, kPage, 0) == target && munmap(target, kPage) == 0);
}

static void break_moves(void) {
  char* before = sbrk(0);
  EXPECT(sbrk(kMega) == before);
  memset(before, 1, kMega);
  EXPECT(brk(before + 2 * kMega) == 0 && sbrk(0) == before + 2 * kMega);
  EXPECT(brk(before) == 0);
}

// Programs ask for huge pages and take small ones when there are none.
static void huge_pages(void) {
  char* at = map(NULL, 4 * kMega, MAP_HUGETLB);
  if (at == MAP_FAILED) {
    printf("no huge pages: %s\n", strerror(errno));
    at = map(NULL, 4 * kMega, 0);
  }
  EXPECT(at != MAP_FAILED && (madvise(at, 4 * kMega, MADV_HUGEPAGE) == 0 || errno == EINVAL));
  memset(at, 5, 4 * kMega);
  EXPECT(madvise(at, 4 * kMega, MADV_DONTNEED) == 0 && at[kMega] == 0);
}

// A ring buffer mapped twice in a row, shared with a forked child.
static void memfd_shared(void) {
  int fd = memfd_create("ring", MFD_CLOEXEC);
  EXPECT(fd >= 0 && ftruncate(fd, kPage) == 0);
  char* at = mmap(NULL, 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int n = 0; n < 2; ++n)
    EXPECT(mmap(at + n * kPage, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
           at + n * kPage);
  pid_t child = fork();
  if (child == 0) {
    strcpy(at + kPage, "from the child");
    _exit(0);
  }
  EXPECT(waitpid(child, NULL, 0) == child);
  printf("%s\n", at);
}

static void sysv_segment(void) {
  int id = shmget(IPC_PRIVATE, 3 * kPage + 1, IPC_CREAT | 0600);
  EXPECT(id >= 0);
  char *one = shmat(id, NULL, 0), *two = shmat(id, NULL, SHM_RDONLY);
  EXPECT(one != (void*)-1 && two != (void*)-1 && shmctl(id, IPC_RMID, NULL) == 0);
  strcpy(one, "seen twice");
  printf("%s\n", two);
  // At an address of the program's choice, in place of what was there.
  char* place = map(NULL, 4 * kPage, 0);
  EXPECT(shmat(id, place, SHM_REMAP) == place && strcmp(place, one) == 0);
  EXPECT(shmdt(one) == 0 && shmdt(two) == 0 && shmdt(place) == 0);
}

// As the kernel has it: SHM_REMAP wants an address.
static void sysv_refused(void) {
  int id = shmget(IPC_PRIVATE, kPage, IPC_CREAT | 0600);
  EXPECT(id >= 0 && shmat(id, NULL, SHM_REMAP) == (void*)-1 && errno == EINVAL);
  EXPECT(shmat(id, (void*)1, 0) == (void*)-1 && errno == EINVAL && shmctl(id, IPC_RMID, NULL) == 0);
  EXPECT(shmat(id, NULL, 0) == (void*)-1 && errno == EINVAL);
}

// A segment attached again and again takes no new addresses.
static void sysv_again(void) {
  int id = shmget(IPC_PRIVATE, 2 * kMega, IPC_CREAT | 0600);
  EXPECT(id >= 0);
  char* first = shmat(id, NULL, 0);
  EXPECT(first != (void*)-1 && shmdt(first) == 0);
  for (int n = 0; n < 100; ++n)
    EXPECT(shmat(id, NULL, 0) == first && munmap(first, 2 * kMega) == 0);
  for (int n = 0; n < 1000; ++n) {
    EXPECT(shmat(id, NULL, 0) == first);
    first[n] = 'x';
    EXPECT(shmdt(first) == 0 && shmdt(first) == -1);
  }
  EXPECT(shmctl(id, IPC_RMID, NULL) == 0);
}

static void posix_segment(void) {
  char name[64];
  snprintf(name, sizeof name, "/compatibility-%d", (int)getpid());
  int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
  EXPECT(fd >= 0 && ftruncate(fd, kMega) == 0);
  char* at = mmap(NULL, kMega, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT(at != MAP_FAILED && shm_unlink(name) == 0);
  memset(at, 'x', kMega);
  char last = 0;
  EXPECT(pread(fd, &last, 1, kMega - 1) == 1);
  printf("%c\n", last);
}

#ifdef UFFD_API
static void* fill_missing_page(void* fd) {
  struct uffd_msg message;
  EXPECT(read((int)(intptr_t)fd, &message, sizeof message) == sizeof message);
  static char page[kPage] __attribute__((aligned(kPage))) = "filled on demand";
  struct uffdio_copy copy = {.dst = message.arg.pagefault.address & ~(uint64_t)(kPage - 1),
                             .src = (uintptr_t)page,
                             .len = kPage};
  EXPECT(ioctl((int)(intptr_t)fd, UFFDIO_COPY, &copy) == 0);
  return NULL;
}

static void user_faults(void) {
  int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
  if (fd < 0) {
    printf("refused: %s\n", strerror(errno));
    return;
  }
  struct uffdio_api api = {.api = UFFD_API};
  char* at = map(NULL, kPage, 0);
  struct uffdio_register range = {.range = {(uintptr_t)at, kPage},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
  EXPECT(ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &range) == 0);
  pthread_t filler;
  EXPECT(pthread_create(&filler, NULL, fill_missing_page, (void*)(intptr_t)fd) == 0);
  printf("%s\n", at);
  EXPECT(pthread_join(filler, NULL) == 0);
}
#endif

// A just-in-time compiler: writes code, then makes it executable.
static void generated_code(void) {
  static const unsigned char kReturn42[] = {0xb8, 42, 0, 0, 0, 0xc3};
  char* at = map(NULL, kPage, 0);
  memcpy(at, kReturn42, sizeof kReturn42);
  EXPECT(mprotect(at, kPage, PROT_READ | PROT_EXEC) == 0);
  printf("%d\n", ((int (*)(void))(uintptr_t)at)());
}

static void locked_pages(void) {
  char* at = map(NULL, 4 * kPage, 0);
  unsigned char resident[4] = {0};
  EXPECT(mlock(at, 4 * kPage) == 0 && mincore(at, 4 * kPage, resident) == 0);
  printf("resident %d%d%d%d\n", resident[0] & 1, resident[1] & 1, resident[2] & 1, resident[3] & 1);
  EXPECT(munlock(at, 4 * kPage) == 0);
}

static void* churn(void* seed) {
  unsigned state = (unsigned)(uintptr_t)seed, sum = 0;
  unsigned char* kept[64] = {0};
  for (int n = 0; n < 20000; ++n) {
    state = state * 1664525 + 1013904223;
    unsigned slot = state >> 26, bytes = 1 + (state >> 8) % (n % 100 == 0 ? 300000 : 2000);
    if (kept[slot] != NULL) sum += kept[slot][0];
    kept[slot] = realloc(kept[slot], bytes);
    kept[slot][0] = kept[slot][bytes - 1] = (unsigned char)n;
  }
  for (int n = 0; n < 64; ++n) free(kept[n]);
  return (void*)(uintptr_t)sum;
}

// Allocates in many threads; blocks change hands.
static void many_mallocs(void) {
  enum { kThreads = 8, kRounds = 3 };
  for (int round = 0; round < kRounds; ++round) {
    pthread_t threads[kThreads];
    unsigned total = 0;
    for (int n = 0; n < kThreads; ++n)
      EXPECT(pthread_create(&threads[n], NULL, churn, (void*)(uintptr_t)(n + 1)) == 0);
    for (int n = 0; n < kThreads; ++n) {
      void* sum;
      EXPECT(pthread_join(threads[n], &sum) == 0);
      total += (unsigned)(uintptr_t)sum;
    }
    printf("sum %u\n", total);
  }
  void* aligned = NULL;
  EXPECT(posix_memalign(&aligned, kMega, 3 * kMega) == 0 && (uintptr_t)aligned % kMega == 0);
  free(aligned);
}

int main(int argc, char** argv) {
  static const Act acts[] = {{"map_32bit", map_32bit},
                             {"map_fixed", map_fixed},
                             {"map_hint", map_hint},
                             {"mremap", remap},
                             {"brk", break_moves},
                             {"huge_pages", huge_pages},
                             {"memfd", memfd_shared},
                             {"sysv_shm", sysv_segment},
                             {"sysv_refused", sysv_refused},
                             {"sysv_again", sysv_again},
                             {"posix_shm", posix_segment},

#ifdef UFFD_API
                             {"userfaultfd", user_faults},
#endif

                             {"generated_code", generated_code},
                             {"mlock", locked_pages},
                             {"malloc", many_mallocs},
                             {NULL, NULL}};
  return perform_chosen(acts, argc, argv);
}
