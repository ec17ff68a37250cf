/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_beside.c - a translated program that calls MPI, too. `mpi_beside [threads|late|part]` */
#include <stdio.h>
#include <string.h>
#include <xmp/xmp.h>

#include "../expect.h"
#include "nagaya/xmp_translated.h"

static const char* const where = "mpi_beside.c:1:1";
static nagaya_xmp_array a;

static void exchange(nagaya_xmp_template* t) {
  const long extent = 100;
  const nagaya_xmp_alignment shadowed = {0, 0, 1, 1};
  if (a.state == NULL) nagaya_xmp_declare_array(where, &a, "a", 4, 1, &extent, t, &shadowed);
  nagaya_xmp_reflect(where, &a, NULL, 0, NULL);
}

/* The communicator has the executing nodes in their order. */
static void check_communicator(void) {
  int rank, size, sum = xmp_node_num();
  const MPI_Comm comm = xmp_get_mpi_comm();
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  EXPECT(rank == xmp_node_num() - 1 && size == xmp_num_nodes());
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT_EQUAL(sum, size * (size + 1) / 2);
  EXPECT(xmp_get_mpi_comm() == comm);
}

int main(int argc, char** argv) {
  nagaya_xmp_begin();
  const int has_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
  const int is_late = argc > 1 && strcmp(argv[1], "late") == 0;
  const long any = -1, low = 0, high = 99;
  const nagaya_xmp_distribution block = {.kind = NAGAYA_XMP_BLOCK};
  nagaya_xmp_nodes* p = nagaya_xmp_declare_nodes(where, "p", 0, 1, &any, NULL, 0);
  nagaya_xmp_template* t = nagaya_xmp_declare_template(where, "t", 1, &low, &high);
  nagaya_xmp_distribute(where, t, p, &block);
  if (is_late) exchange(t);
  int provided;
  if (has_threads)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    xmp_init_mpi(&argc, &argv);
  xmp_init(MPI_COMM_WORLD);
  for (int n = 0; n < 20; ++n) {
    check_communicator();
    exchange(t);
  }
  const long last = xmp_num_nodes() - 1;
  const nagaya_xmp_on all_but_first = {
      .nodes = p, .dimensions = 1, .subscript = {{NAGAYA_XMP_RANGE, last == 0 ? 0 : 1, last, 1}}};
  int entered = nagaya_xmp_enter_task(where, &all_but_first, 0);
  if (entered) check_communicator();
  nagaya_xmp_leave_task(&entered);
  xmp_finalize();
  if (argc > 1 && strcmp(argv[1], "part") == 0) xmp_init(MPI_COMM_SELF);
  xmp_finalize_mpi();
  exchange(t);
  nagaya_xmp_barrier(where, NULL);
  if (xmp_node_num() == 1) printf("MPI beside %d\n", xmp_num_nodes());
  return 0;
}
