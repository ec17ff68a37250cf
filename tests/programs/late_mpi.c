/* SPDX-License-Identifier: BSD-3-Clause */
/* late_mpi.c - a program that is not linked with an MPI loads one as it runs, as interpreters do,
 * and starts and ends it.
 *
 *   late_mpi LIBRARY */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const mpi = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  if (mpi == NULL) return 1;
  int (*const start)(int*, char***) = (int (*)(int*, char***))dlsym(mpi, "MPI_Init");
  int (*const end)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
  if (start == NULL || end == NULL) return 2;
  return start(NULL, NULL) == 0 && end() == 0 ? 0 : 3;
}
