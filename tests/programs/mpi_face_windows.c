/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_windows.c - each function of windows, for each kind of window. Prints "windows of N",
 * with ", beneath" behind it if the windows are the MPI's own: those do not tell where other
 * processes' memory is. */
#include <mpi.h>
#include <stdlib.h>

#include "expect.h"

enum { kWords = 64, kKinds = 4, kUnit = sizeof(int) };

static const int flavors[kKinds] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE,
                                    MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC};
static int rank, ranks, left, right, is_beneath;
static int* words;      /* of this rank */
static MPI_Aint* bases; /* displacement 0 of each rank's */
static MPI_Comm comm;

/* The displacement of word n of a rank. */
static MPI_Aint at(int target, int n, int flavor) {
  return flavor == MPI_WIN_FLAVOR_DYNAMIC ? bases[target] + n * kUnit : n;
}

static MPI_Win make(int flavor) {
  MPI_Win window;
  const MPI_Aint bytes = kWords * kUnit;
  if (flavor == MPI_WIN_FLAVOR_CREATE) {
    words = malloc(bytes);
    MPI_Win_create(words, bytes, kUnit, MPI_INFO_NULL, comm, &window);
  } else if (flavor == MPI_WIN_FLAVOR_ALLOCATE) {
    MPI_Win_allocate(bytes, kUnit, MPI_INFO_NULL, comm, &words, &window);
  } else if (flavor == MPI_WIN_FLAVOR_SHARED) {
    MPI_Win_allocate_shared(bytes, kUnit, MPI_INFO_NULL, comm, &words, &window);
  } else {
    words = malloc(bytes);
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &window);
    MPI_Win_attach(window, words, bytes);
  }
  MPI_Aint own;
  MPI_Get_address(words, &own);
  MPI_Allgather(&own, 1, MPI_AINT, bases, 1, MPI_AINT, comm);
  return window;
}

static void unmake(MPI_Win* window, int flavor) {
  if (flavor == MPI_WIN_FLAVOR_DYNAMIC) {
    MPI_Barrier(comm);
    MPI_Win_detach(*window, words);
  }
  MPI_Win_free(window);
  EXPECT(*window == MPI_WIN_NULL);
  if (flavor == MPI_WIN_FLAVOR_CREATE || flavor == MPI_WIN_FLAVOR_DYNAMIC) free(words);
}

/* Sets word n of each rank to 100 * rank + n. */
static void reset(MPI_Win window) {
  MPI_Barrier(comm);
  for (int n = 0; n < kWords; ++n) words[n] = 100 * rank + n;
  MPI_Win_sync(window);
  MPI_Barrier(comm);
}

/* ---- attributes, names, infos, groups */

static void check_attributes(MPI_Win window, int flavor) {
  void* value;
  int flag = 0, compared;
  MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &value, &flag);
  EXPECT(flag && *(int*)value == flavor);
  MPI_Win_get_attr(window, MPI_WIN_MODEL, &value, &flag);
  EXPECT(flag && (*(int*)value == MPI_WIN_UNIFIED || *(int*)value == MPI_WIN_SEPARATE));
  MPI_Win_get_attr(window, MPI_WIN_BASE, &value, &flag);
  EXPECT(flag && value == (flavor == MPI_WIN_FLAVOR_DYNAMIC ? MPI_BOTTOM : words));
  MPI_Win_get_attr(window, MPI_WIN_SIZE, &value, &flag);
  EXPECT(flag && *(MPI_Aint*)value == (flavor == MPI_WIN_FLAVOR_DYNAMIC ? 0 : kWords * kUnit));
  MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &value, &flag);
  EXPECT(flag && *(int*)value == (flavor == MPI_WIN_FLAVOR_DYNAMIC ? 1 : kUnit));
  MPI_Group group, all;
  MPI_Win_get_group(window, &group);
  MPI_Comm_group(comm, &all);
  MPI_Group_compare(group, all, &compared);
  EXPECT(compared == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&all);
}

static int deleted;
static int delete_attribute(MPI_Win window, int keyval, void* value, void* extra) {
  (void)extra;
  int flag = 0;
  void* known;
  EXPECT(*(int*)value == keyval);
  MPI_Win_get_attr(window, MPI_WIN_MODEL, &known, &flag);
  EXPECT(flag);
  MPI_Group group;
  int size;
  MPI_Win_get_group(window, &group);
  MPI_Group_size(group, &size);
  EXPECT(size == ranks);
  MPI_Group_free(&group);
  ++deleted;
  return MPI_SUCCESS;
}

/* Leaves two attributes to be deleted with the window. */
static void check_own_attributes(MPI_Win window) {
  static int keyvals[3];
  for (int n = 0; n < 3; ++n) {
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, &keyvals[n], NULL);
    MPI_Win_set_attr(window, keyvals[n], &keyvals[n]);
  }
  void* value;
  int flag = 0;
  MPI_Win_get_attr(window, keyvals[1], &value, &flag);
  EXPECT(flag && value == &keyvals[1]);
  deleted = 0;
  MPI_Win_delete_attr(window, keyvals[0]);
  EXPECT(deleted == 1);
  MPI_Win_get_attr(window, keyvals[0], &value, &flag);
  EXPECT(!flag);
}

static void check_names(MPI_Win window) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Win_set_name(window, "the window");
  MPI_Win_get_name(window, name, &length);
  EXPECT(strcmp(name, "the window") == 0 && length == 10);
#ifndef MPI_ABI_VERSION
  EXPECT(MPI_Win_f2c(MPI_Win_c2f(window)) == window);
#endif
}

static void check_info(void) {
  MPI_Info info, kept;
  char value[32];
  int flag, *base;
  MPI_Win window;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Win_allocate_shared(kWords * kUnit, kUnit, info, comm, &base, &window);
  MPI_Win_get_info(window, &kept);
  /* Open MPI 5 returns only hints that it uses itself. */
  MPI_Info_get(kept, "alloc_shared_noncontig", 31, value, &flag);
  EXPECT(!flag || strcmp(value, "true") == 0);
  MPI_Info_get(kept, "accumulate_ordering", 31, value, &flag);
  EXPECT(!flag || strcmp(value, "none") == 0);
  MPI_Info_free(&kept);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Win_set_info(window, info);
  MPI_Win_free(&window);
  static const char* const wishes[] = {"3", "4194304", "-1"}; /* hints may be ignored */
  for (int n = 0; n < 3; ++n) {
    MPI_Info_set(info, "mpi_minimum_memory_alignment", wishes[n]);
    EXPECT(MPI_Win_allocate(kUnit, kUnit, info, comm, &base, &window) == MPI_SUCCESS);
    MPI_Win_free(&window);
  }
  MPI_Info_free(&info);
}

static int handled, handler_calls;
static void handle(MPI_Win* window, int* error, ...) {
  (void)window;
  ++handler_calls;
  MPI_Error_class(*error, &handled);
}

static void check_error_handlers(MPI_Win window) {
  MPI_Errhandler handler, before;
  MPI_Win_get_errhandler(window, &before);
  EXPECT(before == MPI_ERRORS_ARE_FATAL);
  MPI_Win_create_errhandler(handle, &handler);
  MPI_Win_set_errhandler(window, handler);
  MPI_Win_call_errhandler(window, MPI_ERR_OTHER);
  EXPECT(handled == MPI_ERR_OTHER);
  handled = MPI_SUCCESS;
  MPI_Win_lock_all(0, window);
  EXPECT(MPI_Put(words, 1, MPI_INT, ranks, 0, 1, MPI_INT, window) != MPI_SUCCESS);
  EXPECT(handled == MPI_ERR_RANK);
  MPI_Win_unlock_all(window);
  void* value;
  int flag;
  handler_calls = 0;
  EXPECT(MPI_Win_get_attr(window, MPI_KEYVAL_INVALID, &value, &flag) != MPI_SUCCESS);
  EXPECT(handler_calls == 1);
  MPI_Win_set_errhandler(window, before);
  MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&before);
}

/* Returns whether the window tells where each rank's memory is. */
static int check_query(MPI_Win window, int flavor) {
  const int is_dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC;
  MPI_Aint bytes = -1;
  int unit = 0, *base = NULL;
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  const int error = MPI_Win_shared_query(window, right, &bytes, &unit, &base);
  if (flavor != MPI_WIN_FLAVOR_SHARED && (error != MPI_SUCCESS || base == NULL)) return is_dynamic;
  EXPECT(bytes == kWords * kUnit && unit == kUnit);
  reset(window);
  EXPECT(base[5] == 100 * right + 5);
  MPI_Win_shared_query(window, MPI_PROC_NULL, &bytes, &unit, &base);
  EXPECT(bytes == kWords * kUnit && base[5] % 100 == 5);
  MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
  return 1;
}

/* ---- accesses, after which the origin flushes or waits; at `n` words from the first */

static void check_accesses(MPI_Win window, int flavor) {
  MPI_Request request[3];
  int got[4] = {0}, old[4] = {0};
  const int to = right, four[4] = {1, 2, 3, 4}, one = 1, seven = 7;
  const int first = 100 * to;
  reset(window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window);
  MPI_Put(four, 4, MPI_INT, to, at(to, 0, flavor), 4, MPI_INT, window);
  MPI_Rput(four, 4, MPI_INT, to, at(to, 4, flavor), 4, MPI_INT, window, &request[0]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  MPI_Win_flush(to, window);
  MPI_Get(got, 4, MPI_INT, to, at(to, 2, flavor), 4, MPI_INT, window);
  MPI_Win_flush_local(to, window);
  EXPECT(got[0] == 3 && got[1] == 4 && got[2] == 1 && got[3] == 2);
  MPI_Rget(got, 4, MPI_INT, to, at(to, 8, flavor), 4, MPI_INT, window, &request[0]);
  MPI_Raccumulate(four, 4, MPI_INT, to, at(to, 12, flavor), 4, MPI_INT, MPI_SUM, window,
                  &request[1]);
  MPI_Rget_accumulate(four, 4, MPI_INT, old, 4, MPI_INT, to, at(to, 16, flavor), 4, MPI_INT,
                      MPI_PROD, window, &request[2]);
  MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
  EXPECT(got[0] == first + 8 && got[3] == first + 11 && old[0] == first + 16 &&
         old[3] == first + 19);
  MPI_Accumulate(four, 4, MPI_INT, to, at(to, 12, flavor), 4, MPI_INT, MPI_SUM, window);
  MPI_Win_flush(to, window);
  MPI_Get_accumulate(NULL, 0, MPI_INT, got, 4, MPI_INT, to, at(to, 12, flavor), 4, MPI_INT,
                     MPI_NO_OP, window);
  MPI_Win_flush(to, window);
  for (int n = 0; n < 4; ++n) EXPECT(got[n] == first + 12 + n + 2 * (n + 1));
  MPI_Fetch_and_op(&seven, old, MPI_INT, to, at(to, 20, flavor), MPI_SUM, window);
  MPI_Compare_and_swap(&seven, &one, old + 1, MPI_INT, to, at(to, 21, flavor), window);
  MPI_Win_flush(to, window);
  EXPECT(old[0] == first + 20 && old[1] == first + 21);
  const int expected = first + 21;
  MPI_Compare_and_swap(&seven, &expected, old + 1, MPI_INT, to, at(to, 21, flavor), window);
  MPI_Win_flush(to, window);
  EXPECT(old[1] == first + 21);
  MPI_Fetch_and_op(NULL, old, MPI_INT, to, at(to, 20, flavor), MPI_NO_OP, window);
  MPI_Fetch_and_op(&one, old + 1, MPI_INT, to, at(to, 21, flavor), MPI_REPLACE, window);
  MPI_Win_unlock(to, window);
  EXPECT(old[0] == first + 27 && old[1] == 7);
  MPI_Barrier(comm);
  EXPECT(words[0] == 1 && words[4] == 1 && words[21] == 1);
  EXPECT(words[16] == 100 * rank + 16 && words[19] == 4 * (100 * rank + 19));
}

static void check_nobody(MPI_Win window) {
  int got = 5;
  MPI_Request request;
  MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, window);
  MPI_Put(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window);
  MPI_Get(&got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window);
  MPI_Accumulate(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, window);
  MPI_Fetch_and_op(&rank, &got, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, window);
  MPI_Win_flush(MPI_PROC_NULL, window);
  MPI_Win_unlock(MPI_PROC_NULL, window);
  MPI_Win_lock_all(0, window);
  MPI_Rget(&got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(window);
  EXPECT(got == 5);
}

/* A column of 8 of a matrix of 8 x 8, from and to a row. */
static void check_columns(MPI_Win window, int flavor) {
  MPI_Datatype column;
  int row[8], got[8];
  MPI_Type_vector(8, 1, 8, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int n = 0; n < 8; ++n) row[n] = 1000 * rank + n;
  reset(window);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  MPI_Put(row, 8, MPI_INT, right, at(right, 3, flavor), 1, column, window);
  MPI_Accumulate(row, 8, MPI_INT, right, at(right, 5, flavor), 1, column, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Get(got, 8, MPI_INT, left, at(left, 5, flavor), 1, column, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  MPI_Type_free(&column);
  const int of_left = (left + ranks - 1) % ranks;
  for (int n = 0; n < 8; ++n) {
    EXPECT_EQUAL(words[8 * n + 3], 1000 * left + n);
    EXPECT_EQUAL(words[8 * n + 5], 100 * rank + 8 * n + 5 + 1000 * left + n);
    EXPECT_EQUAL(got[n], 100 * left + 8 * n + 5 + 1000 * of_left + n);
  }
}

/* ---- synchronisation */

static void check_post_and_start(MPI_Win window, int flavor) {
  MPI_Group all, from, to;
  int flag = 0;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, 1, &left, &from);
  MPI_Group_incl(all, 1, &right, &to);
  reset(window);
  for (int round = 0; round < 20; ++round) {
    const int value = 10000 * round + rank;
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(&value, 1, MPI_INT, right, at(right, 9, flavor), 1, MPI_INT, window);
    MPI_Win_complete(window);
    if (round % 2 == 0)
      MPI_Win_wait(window);
    else
      for (flag = 0; !flag;) MPI_Win_test(window, &flag);
    EXPECT_EQUAL(words[9], 10000 * round + left);
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&all);
}

/* All add to rank 0's first word by each kind of lock. */
static void check_locks(MPI_Win window, int flavor) {
  enum { kRounds = 50 };
  const int one = 1;
  int got;
  reset(window);
  for (int round = 0; round < kRounds; ++round) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&got, 1, MPI_INT, 0, at(0, 0, flavor), 1, MPI_INT, window);
    MPI_Win_flush_all(window);
    ++got;
    MPI_Put(&got, 1, MPI_INT, 0, at(0, 0, flavor), 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, 0, at(0, 1, flavor), 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(0, window);
    MPI_Win_lock_all(0, window);
    MPI_Accumulate(&one, 1, MPI_INT, 0, at(0, 1, flavor), 1, MPI_INT, MPI_SUM, window);
    MPI_Win_flush_local_all(window);
    MPI_Win_unlock_all(window);
  }
  MPI_Barrier(comm);
  if (rank != 0) return;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  EXPECT_EQUAL(words[0], kRounds * ranks);
  EXPECT_EQUAL(words[1], 1 + 2 * kRounds * ranks);
  MPI_Win_unlock(0, window);
}

/* ---- wrong calls */

/* The window's error handler is MPI_ERRORS_RETURN. */
static void expect_class(int error, int wanted, int line) {
  int got;
  MPI_Error_class(error, &got);
  if (got == wanted) return;
  fprintf(stderr, "line %d: error class %d, not %d\n", line, got, wanted);
  _exit(1);
}
#define EXPECT_CLASS(call, wanted) expect_class(call, wanted, __LINE__)

static void check_errors(MPI_Win window, int flavor) {
  int got;
  MPI_Request request;
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Barrier(comm);
  EXPECT_CLASS(MPI_Put(&rank, 1, MPI_INT, right, at(right, 0, flavor), 1, MPI_INT, window),
               MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_unlock(right, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_unlock_all(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_flush(right, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_complete(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_wait(window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED + 100, right, 0, window), MPI_ERR_LOCKTYPE);
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, window), MPI_ERR_RANK);
  MPI_Win_lock_all(0, window);
  EXPECT_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_fence(0, window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Win_free(&window), MPI_ERR_RMA_SYNC);
  EXPECT_CLASS(MPI_Put(&rank, -1, MPI_INT, right, at(right, 0, flavor), 1, MPI_INT, window),
               MPI_ERR_COUNT);
  EXPECT_CLASS(
      MPI_Put(&rank, 1, MPI_DATATYPE_NULL, right, at(right, 0, flavor), 1, MPI_INT, window),
      MPI_ERR_TYPE);
  EXPECT_CLASS(
      MPI_Rput(&rank, 1, MPI_INT, ranks + 1, at(right, 0, flavor), 1, MPI_INT, window, &request),
      MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Accumulate(&rank, 1, MPI_INT, right, at(right, 0, flavor), 1, MPI_INT,
                              MPI_OP_NULL, window),
               MPI_ERR_OP);
  EXPECT_CLASS(
      MPI_Fetch_and_op(&rank, &got, MPI_FLOAT, right, at(right, 0, flavor), MPI_BAND, window),
      MPI_ERR_OP);
  EXPECT_CLASS(
      MPI_Compare_and_swap(&rank, &rank, &got, MPI_FLOAT, right, at(right, 0, flavor), window),
      MPI_ERR_TYPE);
  if (flavor != MPI_WIN_FLAVOR_DYNAMIC) {
    EXPECT_CLASS(MPI_Put(&rank, 1, MPI_INT, right, kWords, 1, MPI_INT, window), MPI_ERR_RMA_RANGE);
    EXPECT_CLASS(MPI_Win_attach(window, &got, sizeof got), MPI_ERR_RMA_FLAVOR);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(comm);
}

static int are_on_one_node(void) {
  MPI_Comm here;
  int ranks_here;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &ranks_here);
  MPI_Comm_free(&here);
  return ranks_here == ranks;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;
  bases = calloc(ranks, sizeof *bases);
  const int checks_errors = argc > 1, is_one_node = are_on_one_node();
  for (int kind = 0; kind < kKinds; ++kind) {
    const int flavor = flavors[kind];
    if (flavor == MPI_WIN_FLAVOR_SHARED && !is_one_node) continue;
    MPI_Win window = make(flavor);
    check_attributes(window, flavor);
    check_names(window);
    check_error_handlers(window);
    if (is_one_node && !check_query(window, flavor)) is_beneath = 1;
    check_accesses(window, flavor);
    check_nobody(window);
    check_columns(window, flavor);
    check_post_and_start(window, flavor);
    check_locks(window, flavor);
    if (checks_errors) check_errors(window, flavor);
    check_own_attributes(window);
    unmake(&window, flavor);
    EXPECT(deleted == 3);
  }
  if (is_one_node) check_info();
  MPI_Comm_free(&comm);
  if (rank == 0) printf("windows of %d%s\n", ranks, is_beneath ? ", beneath" : "");
  MPI_Finalize();
  return 0;
}
