/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_buffers.c - buffered sends between two ranks: the limit of the program's buffer, its
 * end, and sends on a communicator that the face does not serve. Knows nothing of Nagaya.
 *   mpi_face_buffers pending   the job ends with a send that is still pending */
#include <mpi.h>
#include <stdlib.h>

#include "expect.h"

enum { kTag = 5, kGo = 6, kBytes = 1 << 20 };

static int rank, peer;
static MPI_Comm ours, theirs; /* served by the face, by the MPI beneath */
static char *out, *in;

static int class_of(int code) {
  int error_class;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static int send_one(char value, int bytes, MPI_Comm comm) {
  memset(out, value, (size_t)bytes);
  const int code = MPI_Bsend(out, bytes, MPI_CHAR, comm == theirs ? 0 : peer, kTag, comm);
  memset(out, 0, (size_t)bytes);
  return class_of(code);
}

static void receive_one(char value, int bytes, MPI_Comm comm) {
  MPI_Recv(in, bytes, MPI_CHAR, comm == theirs ? 0 : peer, kTag, comm, MPI_STATUS_IGNORE);
  EXPECT_EQUAL(in[0], value);
  EXPECT_EQUAL(in[bytes - 1], value);
}

static void meet(void) {
  MPI_Sendrecv(NULL, 0, MPI_INT, peer, kGo, NULL, 0, MPI_INT, peer, kGo, ours, MPI_STATUS_IGNORE);
}

static void without_a_buffer(void) {
  EXPECT_EQUAL(send_one(1, 1, ours), MPI_ERR_BUFFER);
  EXPECT_EQUAL(MPI_Bsend(out, 1, MPI_CHAR, MPI_PROC_NULL, kTag, ours), MPI_SUCCESS);
}

/* Room for two large messages, and for none more until one of them is received, in any order. */
static void room_for_two(void) {
  enum { kRoom = 2 * (kBytes + MPI_BSEND_OVERHEAD) };
  void* const room = malloc(kRoom);
  void* got;
  int size;
  EXPECT_EQUAL(MPI_Buffer_attach(room, kRoom), MPI_SUCCESS);
  EXPECT_EQUAL(class_of(MPI_Buffer_attach(room, kRoom)), MPI_ERR_BUFFER);
  EXPECT_EQUAL(send_one(1, 2 * kBytes + MPI_BSEND_OVERHEAD + 1, ours), MPI_ERR_BUFFER);
  for (char round = 0; round < 20; round += 4) {
    EXPECT_EQUAL(send_one(round, kBytes, ours), MPI_SUCCESS);
    EXPECT_EQUAL(send_one(round + 1, kBytes, ours), MPI_SUCCESS);
    EXPECT_EQUAL(send_one(round + 2, 1, ours), MPI_ERR_BUFFER);
    meet();
    receive_one(round, kBytes, ours);
    meet();
    EXPECT_EQUAL(send_one(round + 2, kBytes, ours), MPI_SUCCESS);
    meet();
    receive_one(round + 1, kBytes, ours);
    receive_one(round + 2, kBytes, ours);
    meet();
  }
  EXPECT_EQUAL(MPI_Buffer_detach(&got, &size), MPI_SUCCESS);
  EXPECT(got == room && size == kRoom);
  free(room);
}

/* The end of the buffer waits for the message, whose memory the program has then. */
static void end_waits(void) {
  const int size = kBytes + MPI_BSEND_OVERHEAD;
  char* const room = malloc((size_t)size);
  void* got;
  MPI_Request request;
  MPI_Buffer_attach(room, size);
  memset(out, 7, kBytes);
  if (rank == 0) {
    MPI_Ibsend(out, kBytes, MPI_CHAR, peer, kTag, ours, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&got, &(int){0});
    memset(room, 0, (size_t)size);
    memset(out, 0, kBytes);
  } else {
    receive_one(7, kBytes, ours);
    MPI_Buffer_detach(&got, &(int){0});
  }
  meet();
  free(room);
}

/* A persistent send starts again while the copy of its last start is pending. */
static void started_again(void) {
  const int size = 3 * (kBytes + MPI_BSEND_OVERHEAD);
  void* room = malloc((size_t)size);
  MPI_Request request;
  MPI_Buffer_attach(room, size);
  MPI_Bsend_init(out, kBytes, MPI_CHAR, peer, kTag, ours, &request);
  for (char n = 0; n < 3; ++n) {
    memset(out, n, kBytes);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  EXPECT_EQUAL(class_of(MPI_Start(&request)), MPI_ERR_BUFFER);
  MPI_Request_free(&request);
  meet();
  for (char n = 0; n < 3; ++n) receive_one(n, kBytes, ours);
  MPI_Buffer_detach(&room, &(int){0});
  free(room);
}

/* Both sides have the whole room, since neither can use the other's. */
static void on_both_kinds_of_communicators(void) {
  const int size = 2 * (kBytes + MPI_BSEND_OVERHEAD);
  void* room = malloc((size_t)size);
  MPI_Buffer_attach(room, size);
  for (char n = 0; n < 4; n += 2) {
    EXPECT_EQUAL(send_one(n, kBytes, theirs), MPI_SUCCESS);
    EXPECT_EQUAL(send_one(n + 1, kBytes, ours), MPI_SUCCESS);
    receive_one(n + 1, kBytes, ours);
    receive_one(n, kBytes, theirs);
    meet();
  }
  MPI_Buffer_detach(&room, &(int){0});
  free(room);
}

/* Kept until MPI_Finalize, in which rank 1 finds it. */
static void end_with_a_pending_send(void) {
  const int size = kBytes + MPI_BSEND_OVERHEAD;
  MPI_Buffer_attach(malloc((size_t)size), size);
  if (rank == 0) {
    EXPECT_EQUAL(send_one(9, kBytes, ours), MPI_SUCCESS);
  } else {
    usleep(100000);
    receive_one(9, kBytes, ours);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &ours);
  MPI_Comm_set_errhandler(ours, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, peer, kTag, &theirs);
  out = malloc(3 * kBytes);
  in = malloc(kBytes);
  if (argc > 1) {
    end_with_a_pending_send();
  } else {
    without_a_buffer();
    room_for_two();
    end_waits();
    started_again();
    on_both_kinds_of_communicators();
  }
  MPI_Comm_free(&theirs);
  if (argc == 1) MPI_Comm_free(&ours);
  MPI_Finalize();
  if (rank == 0) puts("every copy arrived");
}
