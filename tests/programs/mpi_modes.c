/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_modes.c - every way to send and to receive that MPI has, between all pairs of ranks, with
 * data that is checked. Knows nothing of Nagaya.
 *   mpi_modes cancels   cancels sends, and no more */
#include <malloc.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

/* By the ways that messages take: empty, in a cell, in a block, from the sender's memory, in
 * chunks. [ints] */
static const int kCounts[] = {0, 1, 11, 12, 1024, 1025, 100000, 600000};
enum { kSizes = sizeof kCounts / sizeof *kCounts, kMost = 600000, kTag = 5 };

static int rank, size, *out, *in;

static int value(int sender, int receiver, int n) {
  return sender * 1000003 + receiver * 10007 + n;
}
static void fill(int to, int count) {
  for (int n = 0; n < count; ++n) out[n] = value(rank, to, n);
}
static void check(int from, int count) {
  for (int n = 0; n < count; ++n) EXPECT_EQUAL(in[n], value(from, rank, n));
}
static void check_status(MPI_Status* status, int from, int tag, int count) {
  int got;
  MPI_Get_count(status, MPI_INT, &got);
  EXPECT_EQUAL(got, count);
  EXPECT_EQUAL(status->MPI_SOURCE, from);
  EXPECT_EQUAL(status->MPI_TAG, tag);
}

/* ---- the modes of sending ------------------------------------------------------------------ */

typedef int start_function(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static int ready_send(const void* data, int count, MPI_Datatype type, int to, int tag,
                      MPI_Comm comm, MPI_Request* request) {
  MPI_Recv(NULL, 0, MPI_INT, to, tag + 1, comm, MPI_STATUS_IGNORE); /* its receive is posted */
  return MPI_Irsend(data, count, type, to, tag, comm, request);
}

/* Around the ring of ranks, at a distance. */
static void exchange(start_function* start, int distance, int count) {
  const int to = (rank + distance) % size, from = (rank + size - distance) % size;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  fill(to, count);
  memset(in, -1, (size_t)count * sizeof *in);
  MPI_Irecv(in, count, MPI_INT, from, kTag, MPI_COMM_WORLD, &requests[0]);
  if (start == ready_send) {
    MPI_Request told;
    MPI_Isend(NULL, 0, MPI_INT, from, kTag + 1, MPI_COMM_WORLD, &told);
    MPI_Request_free(&told);
  }
  start(out, count, MPI_INT, to, kTag, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  check_status(&statuses[0], from, kTag, count);
  check(from, count);
}

static void every_mode(void) {
  start_function* const modes[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, ready_send};
  const int bytes = kMost * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
  void* buffer = malloc((size_t)bytes);
  MPI_Buffer_attach(buffer, bytes);
  for (int mode = 0; mode < 4; ++mode)
    for (int distance = 0; distance < size; ++distance)
      for (int n = 0; n < kSizes; ++n) {
        exchange(modes[mode], distance, kCounts[n]);
        MPI_Barrier(MPI_COMM_WORLD);
      }
  MPI_Buffer_detach(&buffer, &(int){0});
  free(buffer);
}

static void persistent(void) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  for (int n = 0; n < kSizes; ++n) {
    const int count = kCounts[n];
    MPI_Request requests[2];
    MPI_Recv_init(in, count, MPI_INT, from, kTag, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, count, MPI_INT, to, kTag, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 3; ++round) {
      fill(to, count);
      memset(in, -1, (size_t)count * sizeof *in);
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      check(from, count);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
  }
}

/* ---- messages from any source -------------------------------------------------------------- */

static void wildcards_and_probes(void) {
  for (int n = 0; n < kSizes; ++n) {
    const int count = kCounts[n];
    MPI_Request request;
    if (rank != 0) {
      fill(0, count);
      MPI_Isend(out, count, MPI_INT, 0, rank, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int senders = 1; rank == 0 && senders < size; ++senders) {
      MPI_Status status;
      MPI_Message message = MPI_MESSAGE_NULL;
      if (senders % 2 == 0)
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      else
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
      const int from = status.MPI_SOURCE;
      check_status(&status, from, from, count);
      if (message == MPI_MESSAGE_NULL)
        MPI_Recv(in, count, MPI_INT, from, from, MPI_COMM_WORLD, &status);
      else
        MPI_Mrecv(in, count, MPI_INT, &message, &status);
      check_status(&status, from, from, count);
      check(from, count);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* Many more messages than a mailbox has room for, to a receiver that comes late; in their order. */
static void floods(void) {
  enum { kMessages = 5000 };
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request* requests = malloc(kMessages * sizeof *requests);
  for (int n = 0; n < kMessages; ++n) {
    out[n] = n;
    MPI_Isend(&out[n], 1, MPI_INT, to, n % 3, MPI_COMM_WORLD, &requests[n]);
  }
  for (int n = 0; n < kMessages; ++n) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, from, n % 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQUAL(got, n);
  }
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  free(requests);
}

/* ---- buffers that are not one run ---------------------------------------------------------- */

static void columns(void) {
  enum { kRows = 300, kColumns = 400 };
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Datatype column, shifted;
  MPI_Type_vector(kRows, 2, kColumns, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Type_create_hvector(1, 1, 0, column, &shifted);
  MPI_Type_commit(&shifted);
  fill(to, kRows * kColumns);
  memset(in, -1, kRows * kColumns * sizeof *in);
  MPI_Sendrecv(out + 6, 1, column, to, kTag, in + 8, 1, column, from, kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(out + 2, 1, shifted, to, kTag, in + 100, kRows * 2, MPI_INT, from, kTag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int row = 1; row < kRows; ++row)
    for (int n = 0; n < 2; ++n)
      EXPECT_EQUAL(in[row * kColumns + 8 + n] == value(from, rank, row * kColumns + 6 + n) ||
                       row * kColumns + 8 + n < 100 + kRows * 2,
                   1);
  for (int row = 0; row < kRows; ++row)
    for (int n = 0; n < 2; ++n)
      EXPECT_EQUAL(in[100 + row * 2 + n], value(from, rank, row * kColumns + 2 + n));
  MPI_Type_free(&column);
  MPI_Type_free(&shifted);
}

/* ---- mistakes and changes of mind ---------------------------------------------------------- */

static void truncated(void) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int n = 2; n < kSizes; ++n) {
    MPI_Request request;
    fill(to, kCounts[n]);
    MPI_Isend(out, kCounts[n], MPI_INT, to, kTag, MPI_COMM_WORLD, &request);
    int kind;
    MPI_Error_class(
        MPI_Recv(in, kCounts[n] - 1, MPI_INT, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        &kind);
    EXPECT_EQUAL(kind, MPI_ERR_TRUNCATE);
    check(from, kCounts[n] - 1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void cancelled(void) {
  MPI_Request request;
  MPI_Status status;
  int was_cancelled = 0;
  MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &was_cancelled);
  EXPECT_EQUAL(was_cancelled, 1);
}

/* Sends that nobody will match are taken back, the next one is not; Open MPI's own transports
 * cannot. */
static void cancelled_sends(void) {
  start_function* const modes[] = {MPI_Isend, MPI_Issend, MPI_Ibsend};
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  const int bytes = kMost * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
  void* buffer = malloc((size_t)bytes);
  MPI_Buffer_attach(buffer, bytes);
  for (int mode = 0; mode < 3; ++mode)
    for (int n = 0; n < kSizes; ++n) {
      MPI_Request requests[2];
      MPI_Status status;
      int was_cancelled = 0;
      modes[mode](out, kCounts[n], MPI_INT, to, 78, MPI_COMM_WORLD, &requests[0]);
      MPI_Cancel(&requests[0]);
      MPI_Barrier(MPI_COMM_WORLD); /* it is decided, and a second time changes nothing */
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Cancel(&requests[0]);
      MPI_Wait(&requests[0], &status);
      MPI_Test_cancelled(&status, &was_cancelled);
      EXPECT_EQUAL(was_cancelled, 1);
      MPI_Barrier(MPI_COMM_WORLD);
      fill(to, kCounts[n]);
      MPI_Irecv(in, kCounts[n], MPI_INT, from, 78, MPI_COMM_WORLD, &requests[1]);
      MPI_Barrier(MPI_COMM_WORLD);
      modes[mode](out, kCounts[n], MPI_INT, to, 78, MPI_COMM_WORLD, &requests[0]);
      MPI_Wait(&requests[1], &status);
      check_status(&status, from, 78, kCounts[n]);
      check(from, kCounts[n]);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Cancel(&requests[0]); /* it is matched */
      MPI_Wait(&requests[0], &status);
      MPI_Test_cancelled(&status, &was_cancelled);
      EXPECT_EQUAL(was_cancelled, 0);
    }
  MPI_Buffer_detach(&buffer, &(int){0});
  free(buffer);
}

/* A message that nobody has received is none of the next communicator, whose number may be the
 * same. */
static void freed_communicators(void) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Comm comm;
  int is_there;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Send(NULL, 0, MPI_INT, to, kTag, comm);
  MPI_Sendrecv(NULL, 0, MPI_INT, to, kTag, NULL, 0, MPI_INT, from, kTag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Iprobe(from, kTag, comm, &is_there, MPI_STATUS_IGNORE);
  EXPECT(is_there);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Iprobe(from, kTag, comm, &is_there, MPI_STATUS_IGNORE);
  EXPECT(!is_there);
  MPI_Comm_free(&comm);
}

/* The message has its communicator until it is received; other memory may lie there behind that. */
static void freed_communicator_of_a_message(void) {
  enum { kBlocks = 640, kOfEachSize = 10, kBytesApart = 16 };
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  char* blocks[kBlocks];
  MPI_Comm comm;
  MPI_Message message;
  MPI_Status status;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Send(NULL, 0, MPI_INT, to, kTag, comm);
  MPI_Mprobe(from, kTag, comm, &message, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  for (int n = 0; n < kBlocks; ++n) {
    const size_t bytes = ((size_t)n / kOfEachSize + 1) * kBytesApart;
    blocks[n] = malloc(bytes); /* calloc() takes no block that was freed just now */
    explicit_bzero(blocks[n], bytes);
  }
  MPI_Mrecv(NULL, 0, MPI_INT, &message, &status);
  check_status(&status, from, kTag, 0);
  for (int n = 0; n < kBlocks; ++n) {
    for (int at = 0; at < kBytesApart; ++at) EXPECT_EQUAL(blocks[n][at], 0);
    free(blocks[n]);
  }
}

/* Nobody waits for what becomes of them, and they use nothing up. */
static void freed_cancelled_sends(void) {
  enum { kRounds = 60, kFirst = 20, kSends = 100, kBytesMost = 1 << 18 };
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  size_t in_use = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (int n = 0; n < kSends; ++n) {
      MPI_Request request;
      MPI_Isend(&rank, 1, MPI_INT, to, 79, MPI_COMM_WORLD, &request);
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
    /* The receiver has all of them, and has answered. */
    MPI_Sendrecv(NULL, 0, MPI_INT, to, 80, NULL, 0, MPI_INT, from, 80, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(NULL, 0, MPI_INT, from, 80, NULL, 0, MPI_INT, to, 80, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (round == kFirst) in_use = mallinfo2().uordblks;
  }
  EXPECT(mallinfo2().uordblks < in_use + kBytesMost);
}

static void cancelled_sends_of_any_end(void) {
  cancelled_sends();
  freed_cancelled_sends();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out = malloc(kMost * sizeof *out);
  in = malloc(kMost * sizeof *in);
  void (*const parts[])(void) = {freed_communicator_of_a_message, /* while little memory is free */
                                 every_mode,
                                 persistent,
                                 wildcards_and_probes,
                                 floods,
                                 columns,
                                 truncated,
                                 cancelled,
                                 freed_communicators,
                                 cancelled_sends_of_any_end};
  enum { kParts = sizeof parts / sizeof *parts };
  const int only_cancels = argc > 1 && strcmp(argv[1], "cancels") == 0;
  for (int n = only_cancels ? kParts - 1 : 0; n < (only_cancels ? kParts : kParts - 1); ++n) {
    parts[n]();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("every mode among %d\n", size);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
