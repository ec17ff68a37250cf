/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_with_mpi.c - MPI and XcalableMP in one program: the communicator of the executing nodes. */
#include <mpi.h>
#include <xmp.h>

#include "check.h"

#pragma xmp nodes p[*]

int main(int argc, char** argv) {
  xmp_init_mpi(&argc, &argv);
  int number = own_number() + 1, sum = 0, size = 0;
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, xmp_get_mpi_comm());
  EXPECT_EQUAL(sum, xmp_all_num_nodes() * (xmp_all_num_nodes() + 1) / 2);
#pragma xmp task on p[0]
  {
    MPI_Comm_size(xmp_get_mpi_comm(), &size);
    EXPECT_EQUAL(size, 1);
  }
  int counted = 1;
#pragma xmp reduction(+ : counted)
  EXPECT_EQUAL(counted, xmp_all_num_nodes());
  xmp_finalize_mpi();
  return say_ok();
}
