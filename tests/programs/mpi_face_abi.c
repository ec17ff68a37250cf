// SPDX-License-Identifier: BSD-3-Clause
// mpi_face_abi.c - what differs between the binary interfaces of MPI, by the face: values of
// constants, statuses, handles of requests and messages, and their numbers for Fortran. Prints
// "ours among N", or "beneath among N" if the requests of the messages are the MPI's own.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "expect.h"

// The standard's interface has no functions for Fortran.
#ifdef MPI_ABI_VERSION
#define MPI_Fint int
#define MPI_Request_c2f MPI_Request_toint
#define MPI_Request_f2c MPI_Request_fromint
#define MPI_Message_c2f MPI_Message_toint
#define MPI_Message_f2c MPI_Message_fromint
#endif

static int rank, ranks, is_ours;

// The face's requests have numbers that no MPI gives its own: from 0x2c000001 (MPICH's interface
// and the standard's) or 0x40000000 on (Open MPI's).
static int is_number_of_face(MPI_Fint number) {
  return (number > 0x2c000000 && number < 0x30000000) || (number >= 1 << 30 && number < 0x44000000);
}

static void check_status(const MPI_Status* status, int source, int tag, int count) {
  int counted = -1, cancelled = -1;
  MPI_Get_count(status, MPI_INT, &counted);
  MPI_Test_cancelled(status, &cancelled);
  EXPECT(status->MPI_SOURCE == source && status->MPI_TAG == tag && counted == count && !cancelled);
}

// Number n of a message with this tag.
static int value(int tag, int n) {
  return 1000 * tag + n;
}

static void send(int to, int tag, int count, MPI_Comm comm) {
  int data[100];
  for (int n = 0; n < count; ++n) data[n] = value(tag, n);
  MPI_Send(data, count, MPI_INT, to, tag, comm);
}

static void check_blocking(MPI_Comm comm) {
  int data[100] = {0};
  MPI_Status status;
  memset(&status, -1, sizeof status);
  if (rank == 0) {
    send(1, 3, 100, comm);
    send(1, 4, 0, comm);
  } else if (rank == 1) {
    MPI_Recv(data, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    check_status(&status, 0, 3, 100);
    for (int n = 0; n < 100; ++n) EXPECT(data[n] == value(3, n));
    MPI_Recv(data, 100, MPI_INT, 0, 4, comm, &status);
    check_status(&status, 0, 4, 0);
  }
  MPI_Recv(data, 1, MPI_INT, MPI_PROC_NULL, 9, comm, &status);
  EXPECT(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
  MPI_Send(MPI_BOTTOM, 0, MPI_INT, MPI_PROC_NULL, 9, comm);
}

static void check_requests(MPI_Comm comm) {
  const int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
  int out = rank, in[3] = {-1, -1, -1}, index = -1, flag = 0;
  MPI_Request requests[4];
  MPI_Status statuses[4];
  for (int n = 0; n < 3; ++n) MPI_Irecv(&in[n], 1, MPI_INT, before, n, comm, &requests[n]);
  requests[3] = MPI_REQUEST_NULL;
  is_ours = is_number_of_face(MPI_Request_c2f(requests[0]));
  for (int n = 0; n < 3; ++n) {
    EXPECT(requests[n] != MPI_REQUEST_NULL);
    EXPECT(MPI_Request_f2c(MPI_Request_c2f(requests[n])) == requests[n]);
  }
  EXPECT(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
  MPI_Send(&out, 1, MPI_INT, after, 1, comm);
  MPI_Waitany(4, requests, &index, statuses);
  EXPECT(index == 1 && in[1] == before && requests[1] == MPI_REQUEST_NULL);
  check_status(statuses, before, 1, 1);
  MPI_Barrier(comm);
  MPI_Send(&out, 1, MPI_INT, after, 0, comm);
  while (!flag) MPI_Test(&requests[0], &flag, statuses);
  EXPECT(in[0] == before && requests[0] == MPI_REQUEST_NULL);
  MPI_Isend(&out, 1, MPI_INT, after, 2, comm, &requests[0]);
  MPI_Waitall(4, requests, statuses);
  check_status(&statuses[2], before, 2, 1);
  for (int n = 0; n < 4; ++n) EXPECT(requests[n] == MPI_REQUEST_NULL);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Wait(&requests[0], statuses);
  check_status(statuses, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

// A request of the MPI's own beside one of a message.
static int ignore_query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_INT, 7);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = 5;
  return MPI_SUCCESS;
}
static int ignore_free(void* state) {
  return state != NULL;
}
static int ignore_cancel(void* state, int complete) {
  return state != NULL && complete;
}

static void check_mixed_requests(MPI_Comm comm) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int in = -1;
  MPI_Grequest_start(ignore_query, ignore_free, ignore_cancel, NULL, &requests[0]);
  MPI_Irecv(&in, 1, MPI_INT, rank, 8, comm, &requests[1]);
  MPI_Grequest_complete(requests[0]);
  MPI_Send(&rank, 1, MPI_INT, rank, 8, comm);
  MPI_Waitall(2, requests, statuses);
  EXPECT(in == rank && requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
  check_status(&statuses[0], 5, 5, 7);
  check_status(&statuses[1], rank, 8, 1);
}

static void check_messages(MPI_Comm comm) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  int data[100], flag = 0;
  if (rank == 0) send(1, 6, 50, comm);
  if (rank == 1) {
    while (!flag) MPI_Improbe(0, MPI_ANY_TAG, comm, &flag, &message, &status);
    check_status(&status, 0, 6, 50);
    EXPECT(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC);
    message = MPI_Message_f2c(MPI_Message_c2f(message));
    MPI_Mrecv(data, 100, MPI_INT, &message, &status);
    EXPECT(message == MPI_MESSAGE_NULL && data[49] == value(6, 49));
  }
  MPI_Mprobe(MPI_PROC_NULL, 0, comm, &message, &status);
  EXPECT(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Mrecv(data, 1, MPI_INT, &message, &status);
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  EXPECT(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE && ranks >= 2);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  check_blocking(comm);
  check_blocking(MPI_COMM_WORLD);
  check_requests(comm);
  check_mixed_requests(comm);
  check_messages(comm);
  MPI_Comm_free(&comm);
  EXPECT(comm == MPI_COMM_NULL);
  if (rank == 0) printf("%s among %d\n", is_ours ? "ours" : "beneath", ranks);
  MPI_Finalize();
  return 0;
}
