/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_shim.c - compiled once for each MPI, with its mpi.h. It is not linked with that MPI: the
 * program is. */
#include <mpi.h>
#include <stddef.h>

#include "faces/blacs/mpi.h"

static void init(void) {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  if (!is_initialized) MPI_Init(NULL, NULL);
}

static void finalize(void) {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (!is_finalized) MPI_Finalize();
}

static void end_all(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
}

static int has_threads(void) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

static int world(void) {
  return (int)MPI_Comm_c2f(MPI_COMM_WORLD);
}

static int size(int comm) {
  int size = 0;
  MPI_Comm_size(MPI_Comm_f2c(comm), &size);
  return size;
}

static int rank(int comm) {
  int rank = 0;
  MPI_Comm_rank(MPI_Comm_f2c(comm), &rank);
  return rank;
}

struct pending_request {
  MPI_Request request;
  int error;
};

static int is_over(void* context) {
  struct pending_request* const what = context;
  int flag = 0;
  what->error = MPI_Test(&what->request, &flag, MPI_STATUS_IGNORE);
  return what->error != MPI_SUCCESS || flag;
}

static int allgather(int comm, const void* own, int bytes, void* all, nagaya_blacs_wait* wait) {
  struct pending_request what;
  what.error =
      MPI_Iallgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_Comm_f2c(comm), &what.request);
  if (what.error == MPI_SUCCESS) wait(is_over, &what);
  return what.error;
}

static int translate(int from, const int* ranks, int count, int* out) {
  MPI_Group group, world_group;
  MPI_Comm_group(MPI_Comm_f2c(from), &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world_group);
  MPI_Group_translate_ranks(group, count, ranks, world_group, out);
  MPI_Group_free(&world_group);
  MPI_Group_free(&group);
  for (int n = 0; n < count; ++n)
    if (out[n] == MPI_UNDEFINED) return 0;
  return 1;
}

static int make_group(int from, const int* ranks, int count, int tag, int* out) {
  MPI_Group group, own;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_group(MPI_Comm_f2c(from), &group);
  MPI_Group_incl(group, count, ranks, &own);
  const int error = MPI_Comm_create_group(MPI_Comm_f2c(from), own, tag, &made);
  MPI_Group_free(&own);
  MPI_Group_free(&group);
  *out = (int)MPI_Comm_c2f(made);
  return error;
}

static void free_comm(int comm) {
  int is_finalized = 0;
  MPI_Comm made = MPI_Comm_f2c(comm);
  MPI_Finalized(&is_finalized);
  if (!is_finalized) MPI_Comm_free(&made);
}

static int answer_query(void* unused, MPI_Status* status) {
  (void)unused;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int release(void* unused) {
  (void)unused;
  return MPI_SUCCESS;
}
static int cancel(void* unused, int complete) {
  (void)unused, (void)complete;
  return MPI_SUCCESS;
}

/* Advances all messages: the test of an incomplete request does. (MPICH's probes advance none.) */
static void progress(void) {
  MPI_Request request;
  int flag = 0;
  MPI_Finalized(&flag);
  if (flag || MPI_Grequest_start(answer_query, release, cancel, NULL, &request) != MPI_SUCCESS)
    return;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A C handle is an int or a pointer. */
static int from_c(uintptr_t comm) {
  return (int)MPI_Comm_c2f((MPI_Comm)comm);
}

static uintptr_t to_c(int comm) {
  return (uintptr_t)MPI_Comm_f2c(comm);
}

__attribute__((visibility("default"))) const nagaya_blacs_mpi* nagaya_blacs_mpi_functions(void) {
  static const nagaya_blacs_mpi functions = {
      init,      finalize,  end_all,    has_threads, world,    size,   rank,
      allgather, translate, make_group, free_comm,   progress, from_c, to_c};
  return &functions;
}
