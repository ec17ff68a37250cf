/* SPDX-License-Identifier: BSD-3-Clause */
/* left_blacs SECONDS - the BLACS without an MPI. The first process sends the second one a message
 * after so long; the last process ends at once, and without blacs_exit. */
#include <stdlib.h>
#include <unistd.h>

void Cblacs_pinfo(int* rank, int* size);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cdgesd2d(int context, int rows, int columns, double* matrix, int leading, int row, int column);
void Cdgerv2d(int context, int rows, int columns, double* matrix, int leading, int row, int column);

int main(int argc, char** argv) {
  int rank, size, context;
  double item = 7;
  if (argc < 2) return 2;
  Cblacs_pinfo(&rank, &size);
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, size);
  if (rank == 0) {
    sleep((unsigned)atoi(argv[1]));
    Cdgesd2d(context, 1, 1, &item, 1, 0, 1);
  } else if (rank == 1) {
    item = 0;
    Cdgerv2d(context, 1, 1, &item, 1, 0, 0);
  }
  return item == 7 ? 0 : 1;
}
