/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_spawn_loop.c - a master starts one worker after the other, argv[1] of them. Each sends a
 * message that Nagaya leaves in the worker's memory. The master takes it at once; both disconnect,
 * and the number of the task is used again. But the first worker ends without a word; the master
 * takes its message at the end: its memory must still be there. */
#include <mpi.h>
#include <nagaya/task.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { BYTES = 3000, NUMBERS = 1 << 12, NUMBER_TAG = 1, DATA_TAG = 2 };

static void work(MPI_Comm master) {
  int turn, number = nagaya_task_self();
  char data[BYTES];
  MPI_Bcast(&turn, 1, MPI_INT, 0, master);
  memset(data, turn + 1, sizeof data);
  MPI_Send(&number, 1, MPI_INT, 0, NUMBER_TAG, master);
  MPI_Send(data, BYTES, MPI_BYTE, 0, DATA_TAG, master);
  if (turn != 0) MPI_Comm_disconnect(&master);
}

static void check_data(int turn, MPI_Comm worker) {
  char data[BYTES];
  MPI_Recv(data, BYTES, MPI_BYTE, 0, DATA_TAG, worker, MPI_STATUS_IGNORE);
  for (int n = 0; n < BYTES; ++n) EXPECT_EQUAL(data[n], (char)(turn + 1));
}

int main(int argc, char** argv) {
  static int is_used[NUMBERS];
  MPI_Comm master, first = MPI_COMM_NULL;
  int number_of_first = -1, used_again = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&master);
  if (master != MPI_COMM_NULL) {
    work(master);
    MPI_Finalize();
    return 0;
  }
  const int turns = atoi(argv[1]);
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Comm worker;
    int number;
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &worker,
                   MPI_ERRCODES_IGNORE);
    MPI_Bcast(&turn, 1, MPI_INT, MPI_ROOT, worker);
    MPI_Recv(&number, 1, MPI_INT, 0, NUMBER_TAG, worker, MPI_STATUS_IGNORE);
    EXPECT(number >= 0 && number < NUMBERS && number != number_of_first);
    used_again += is_used[number];
    is_used[number] = 1;
    if (turn == 0) {
      first = worker;
      number_of_first = number;
    } else {
      check_data(turn, worker);
      MPI_Comm_disconnect(&worker);
    }
  }
  check_data(0, first);
  printf("%d workers, %s\n", turns,
         used_again != 0 ? "some of them with used numbers" : "each with a number of its own");
  MPI_Finalize();
  return 0;
}
