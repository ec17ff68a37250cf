/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_ending.c - the acts of ending.h in rank 0 of an MPI job, and those that only MPI has:
 *   abort CODE       MPI_Abort in rank 0            unfinished CODE  exit without MPI_Finalize
 *   spawn COUNT [COMMAND]  MPI_Comm_spawn of COUNT children, which add up their ranks with us;
 *                    COMMAND: that starts this program
 *   processors       every rank prints which processors it may use
 *   run COMMAND      rank 0 gives it to a shell */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ending.h"

static int add_up(MPI_Comm intercomm, int high) {
  MPI_Comm all;
  int rank, size, sum;
  MPI_Intercomm_merge(intercomm, high, &all);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
  if (rank == 0) printf("spawned: %d ranks, sum %d\n", size, sum);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&intercomm);
  return sum == size * (size - 1) / 2 ? 0 : 96;
}

static int spawn(char* program, int count) {
  MPI_Comm children;
  MPI_Comm_spawn(program, MPI_ARGV_NULL, count, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                 MPI_ERRCODES_IGNORE);
  return add_up(children, 0);
}

static int print_processors(int rank) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 95;
  char line[64 + 5 * CPU_SETSIZE]; /* written at once: MPICH leaves stdout unbuffered */
  int length = snprintf(line, sizeof line, "rank %d:", rank);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set))
      length += snprintf(line + length, sizeof line - (size_t)length, " %d", cpu);
  line[length++] = '\n';
  return write(STDOUT_FILENO, line, (size_t)length) == length ? 0 : 94;
}

/* It returns under Slurm's PMI-2, which kills all ranks a moment later. */
static void abort_job(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  for (;;) pause();
}

/* The others wait in a barrier that rank 0 may never reach. */
static int act_as(int rank, int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  int code = 0;
  if (strcmp(name, "spawn") == 0) return spawn(argc > 3 ? argv[3] : argv[0], number);
  if (strcmp(name, "processors") == 0) return print_processors(rank);
  if (strcmp(name, "unfinished") == 0) _exit(number);
  if (strcmp(name, "run") == 0) return rank == 0 && system(argv[2]) != 0 ? 93 : 0;
  if (rank == 0 && strcmp(name, "abort") == 0) abort_job(number);
  if (rank == 0 || strcmp(name, "signal") == 0) code = act(argc, argv);
  fflush(stdout);
  if (strcmp(name, "kill") == 0 || strcmp(name, "abort") == 0 || strcmp(name, "linger") == 0)
    MPI_Barrier(MPI_COMM_WORLD);
  return code;
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  const int code = parent != MPI_COMM_NULL ? add_up(parent, 1) : act_as(rank, argc, argv);
  MPI_Finalize();
  return code < 0 ? 97 : code;
}
