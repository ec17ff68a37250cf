/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_window_faults.c - situations in which windows of MPIs have lost data, hung, crashed or
 * taken long. Each argument names one; "NAME: right" is printed for each.
 *
 *   strided      an accumulate to a strided type changes other bytes or the wrong ones (ompi 6275,
 * 8544) concurrent   accumulates of several ranks to one place lose updates (ompi 3571) swap a spin
 * lock by MPI_Get_accumulate with MPI_REPLACE never ends (ompi 14173) threads      threads that
 * make windows at once hang (ompi 2530) refused      one rank's failed allocation leaves the others
 * waiting (ompi 6740) huge         MPI_Win_allocate_shared of much memory takes seconds, as it
 * touches the memory (mpich 5962) many         so many windows cannot exist at once (spyking-circus
 * 95) computing    a target that computes delays the origin (mpich 3750, 4434) loop         windows
 * in a loop leak (mpi4py 354) */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "expect.h"

static int rank, ranks;

static void strided(void) {
  enum { kRows = 33, kColumns = 7 };
  double matrix[kRows][kColumns], column[kRows];
  MPI_Datatype type;
  MPI_Win window;
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) matrix[r][c] = r * kColumns + c;
  for (int r = 0; r < kRows; ++r) column[r] = 1000 * (r + 1);
  MPI_Type_vector(kRows, 1, kColumns, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Win_create(matrix, sizeof matrix, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  for (int to = 0; to < ranks; ++to) {
    double before[kRows];
    MPI_Accumulate(column, kRows, MPI_DOUBLE, to, 2, 1, type, MPI_SUM, window);
    MPI_Get_accumulate(column, kRows, MPI_DOUBLE, before, kRows, MPI_DOUBLE, to, 4, 1, type,
                       MPI_SUM, window);
  }
  MPI_Win_fence(0, window);
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c)
      EXPECT(matrix[r][c] == r * kColumns + c + (c == 2 || c == 4 ? 1000.0 * (r + 1) * ranks : 0));
  MPI_Win_free(&window);
  MPI_Type_free(&type);
}

static void concurrent(void) {
  enum { kRounds = 2000, kWords = 5 };
  long words[kWords] = {0}, ones[kWords] = {1, 1, 1, 1, 1}, old;
  MPI_Win window;
  MPI_Win_create(words, sizeof words, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(0, window);
  for (int n = 0; n < kRounds; ++n) {
    MPI_Accumulate(ones, kWords, MPI_LONG, n % ranks, 0, kWords, MPI_LONG, MPI_SUM, window);
    MPI_Fetch_and_op(ones, &old, MPI_LONG, n % ranks, n % kWords, MPI_SUM, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  long sum = 0, all;
  MPI_Win_sync(window);
  for (int n = 0; n < kWords; ++n) sum += words[n];
  MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQUAL(all, (long)ranks * kRounds * (kWords + 1));
  MPI_Win_free(&window);
}

static void swap(void) {
  enum { kRounds = 50 };
  int words[2] = {0, 0}, taken = 1, is_free = 0, was, got;
  MPI_Win window;
  MPI_Win_create(words, sizeof words, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_lock_all(0, window);
  for (int n = 0; n < kRounds; ++n) {
    do {
      MPI_Get_accumulate(&taken, 1, MPI_INT, &was, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE,
                         window);
      MPI_Win_flush(0, window);
      if (was) sched_yield();
    } while (was);
    MPI_Get(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, window);
    MPI_Win_flush(0, window);
    ++got;
    MPI_Put(&got, 1, MPI_INT, 0, 1, 1, MPI_INT, window);
    MPI_Win_flush(0, window);
    MPI_Accumulate(&is_free, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, window);
    MPI_Win_flush(0, window);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);
  if (rank == 0) EXPECT_EQUAL(words[1], kRounds * ranks);
  MPI_Win_free(&window);
}

enum { kThreads = 4 };
static MPI_Comm comms[kThreads];

static void* make_windows(void* which) {
  const MPI_Comm comm = comms[(size_t)which];
  for (int n = 0; n < 10; ++n) {
    int *base, value = 100 * rank + n;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &base, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    EXPECT_EQUAL(*base, 100 * ((rank + ranks - 1) % ranks) + n);
    MPI_Win_free(&window);
  }
  return NULL;
}

static void threads(void) {
  pthread_t all[kThreads];
  for (int n = 0; n < kThreads; ++n) MPI_Comm_dup(MPI_COMM_WORLD, &comms[n]);
  for (size_t n = 0; n < kThreads; ++n) pthread_create(&all[n], NULL, make_windows, (void*)n);
  for (int n = 0; n < kThreads; ++n) pthread_join(all[n], NULL);
  for (int n = 0; n < kThreads; ++n) MPI_Comm_free(&comms[n]);
}

static void refused(void) {
  void* base;
  MPI_Win window;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const MPI_Aint bytes = rank == ranks - 1 ? (MPI_Aint)1 << 60 : 8;
  EXPECT(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, &base, &window) != MPI_SUCCESS);
  EXPECT(MPI_Win_allocate_shared(rank == 0 ? -1 : 8, 1, MPI_INFO_NULL, comm, &base, &window) !=
         MPI_SUCCESS);
  EXPECT(MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &base, &window) == MPI_SUCCESS);
  MPI_Win_free(&window);
  MPI_Comm_free(&comm);
}

static void huge(void) {
  const MPI_Aint bytes = ((MPI_Aint)16 << 30) / ranks;
  char *base, *first;
  int unit;
  MPI_Aint size;
  MPI_Win window;
  const double begin = MPI_Wtime();
  MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Win_shared_query(window, 0, &size, &unit, &first);
  EXPECT(size == bytes && base == first + rank * bytes);
  base[bytes - 1] = (char)rank;
  MPI_Win_free(&window);
  EXPECT(MPI_Wtime() - begin < 1);
}

static void many(void) {
  enum { kWindows = 1800 };
  static MPI_Win windows[kWindows];
  static int words[kWindows];
  for (int n = 0; n < kWindows; ++n)
    MPI_Win_create(&words[n], sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &windows[n]);
  for (int n = 0; n < kWindows; n += 99) {
    MPI_Win_fence(0, windows[n]);
    MPI_Put(&n, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, windows[n]);
    MPI_Win_fence(0, windows[n]);
    EXPECT_EQUAL(words[n], n);
  }
  for (int n = 0; n < kWindows; ++n) MPI_Win_free(&windows[n]);
}

/* Rank 0 accesses the memory of the last rank, which waits for a plain store, outside of MPI. */
static void computing(void) {
  volatile int words[8] = {0};
  int five[5] = {1, 2, 3, 4, 5}, done = 1, got[5];
  const int target = ranks - 1;
  MPI_Datatype strided_type;
  MPI_Win window;
  MPI_Win_create((int*)words, sizeof words, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Type_vector(2, 1, 3, MPI_INT, &strided_type);
    MPI_Type_commit(&strided_type);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Put(five, 5, MPI_INT, target, 0, 5, MPI_INT, window);
    MPI_Accumulate(five, 2, MPI_INT, target, 0, 1, strided_type, MPI_SUM, window);
    MPI_Get(got, 5, MPI_INT, target, 0, 5, MPI_INT, window);
    MPI_Win_flush(target, window);
    EXPECT(got[0] == 2 && got[1] == 2 && got[3] == 6 && got[4] == 5);
    MPI_Accumulate(&done, 1, MPI_INT, target, 7, 1, MPI_INT, MPI_REPLACE, window);
    MPI_Win_unlock(target, window);
    MPI_Type_free(&strided_type);
  }
  if (rank == target)
    while (__atomic_load_n(&words[7], __ATOMIC_ACQUIRE) == 0) sched_yield();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
}

static long resident_kib(void) {
  long pages = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  EXPECT(file != NULL && fscanf(file, "%*d %ld", &pages) == 1);
  fclose(file);
  return pages * 4;
}

static void loop(void) {
  enum { kRounds = 1500 };
  long before = 0;
  for (int n = 0; n < kRounds; ++n) {
    int* base;
    MPI_Win window;
    if (n == kRounds / 3) before = resident_kib();
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    base[0] = n;
    MPI_Win_free(&window);
  }
  EXPECT(resident_kib() - before < 2048);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } all[] = {{"strided", strided}, {"concurrent", concurrent}, {"swap", swap},
             {"threads", threads}, {"refused", refused},       {"huge", huge},
             {"many", many},       {"computing", computing},   {"loop", loop}};
  int level;
  MPI_Init_thread(
      &argc, &argv,
      argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
      &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int n = 1; n < argc; ++n)
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
      if (strcmp(argv[n], all[k].name) == 0) {
        all[k].run();
        if (rank == 0) printf("%s: right\n", argv[n]);
      }
  MPI_Finalize();
  return 0;
}
