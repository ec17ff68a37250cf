/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_face_stub.h - the MPI of mpi_face_stub.c. */
#ifndef NAGAYA_TESTS_MPI_FACE_STUB_H
#define NAGAYA_TESTS_MPI_FACE_STUB_H

#define STUB_SUCCESS 77
#define STUB_WORLD 1.5 /* in a vector register */
#define STUB_BYTE 2.5

struct stub_status {
  long source, tag;
};

int MPI_Init(int* argc, char*** argv);
int MPI_Send(const void* buffer, int count, double type, int to, int tag, double comm);
int MPI_Recv(void* buffer, int count, double type, int from, int tag, double comm,
             struct stub_status* status);
/* It lacks this one, and programs look whether it is there. */
int MPI_Barrier(double comm) __attribute__((weak));
int MPI_Finalize(void);

#endif
