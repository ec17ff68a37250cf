/* SPDX-License-Identifier: BSD-3-Clause */
/* Says what a task of an MPI program and its child have in LD_PRELOAD, and whether the face of MPI
 * is loaded. With "send" the two processes exchange messages first; with "split" each makes a
 * communicator of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 3 };

static int is_face_loaded(void) {
  char line[4096];
  int is_loaded = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, "libnagaya-mpi.so") != NULL) is_loaded = 1;
  if (maps != NULL) fclose(maps);
  return is_loaded;
}

static void exchange(int rank) {
  char byte = 0;
  for (int n = 0; n < MESSAGES; ++n)
    if (rank == 0)
      MPI_Send(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
      MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* const act = argc > 1 ? argv[1] : "";
  const char* const value = getenv("LD_PRELOAD");
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(act, "send") == 0) exchange(rank);
  if (strcmp(act, "split") == 0) {
    MPI_Comm own;
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    MPI_Comm_set_name(own, "own");
    MPI_Comm_free(&own);
  }
  if (rank == 0) {
    printf("face %d\nself %s\n", is_face_loaded(), value != NULL ? value : "unset");
    fflush(stdout);
    if (system("echo \"child ${LD_PRELOAD-unset}\"; grep -c libnagaya-mpi /proc/self/maps") == -1)
      return 1;
  }
  MPI_Finalize();
  return 0;
}
