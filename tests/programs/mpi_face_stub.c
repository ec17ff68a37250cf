// SPDX-License-Identifier: BSD-3-Clause
// mpi_face_stub.c - a library of an MPI that nobody knows, for one process: with handles, constants
// and a status of its own, and without most functions. With STUB_PROGRAM: a program that uses it.
#include "mpi_face_stub.h"

#ifndef STUB_PROGRAM

#include <string.h>

static char message[64];

int MPI_Init(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  return STUB_SUCCESS;
}

int MPI_Send(const void* buffer, int count, double type, int to, int tag, double comm) {
  (void)type;
  (void)to;
  (void)tag;
  memcpy(message, buffer, (size_t)count);
  return comm == STUB_WORLD ? STUB_SUCCESS : 0;
}

int MPI_Recv(void* buffer, int count, double type, int from, int tag, double comm,
             struct stub_status* status) {
  (void)type;
  (void)comm;
  memcpy(buffer, message, (size_t)count);
  status->source = from;
  status->tag = tag;
  return STUB_SUCCESS;
}

int MPI_Finalize(void) {
  return STUB_SUCCESS;
}

#else

#include "expect.h"

int main(int argc, char** argv) {
  char received[6] = "";
  struct stub_status status = {0, 0};
  EXPECT_EQUAL(MPI_Init(&argc, &argv), STUB_SUCCESS);
  EXPECT_EQUAL(MPI_Send("hello", 6, STUB_BYTE, 0, 11, STUB_WORLD), STUB_SUCCESS);
  EXPECT_EQUAL(MPI_Recv(received, 6, STUB_BYTE, 0, 11, STUB_WORLD, &status), STUB_SUCCESS);
  EXPECT(strcmp(received, "hello") == 0 && status.tag == 11);
  EXPECT_EQUAL(MPI_Finalize(), STUB_SUCCESS);
  puts(received);
  if (argc > 1) MPI_Barrier(STUB_WORLD);
  return 0;
}

#endif
