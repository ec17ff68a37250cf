/* SPDX-License-Identifier: BSD-3-Clause */
/* lost_blacs.c - processes wait by the BLACS without an MPI. */
#include "wait_for_lost.h"

void Cblacs_pinfo(int* rank, int* size);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_barrier(int context, const char* scope);

int main(void) {
  int rank, size, context;
  Cblacs_pinfo(&rank, &size);
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, size);
  be_ready(rank);
  Cblacs_barrier(context, "All");
  return 0;
}
