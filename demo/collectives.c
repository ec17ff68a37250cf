/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.c - alltoall and allreduce of 1 MiB a rank, as any MPI program calls them. Then all
 * ranks give their data back and wait until rank 0's standard input ends: demo.py reads the memory
 * of the job meanwhile. Knows nothing of Nagaya.
 *
 *   collectives [--no-turns]   --no-turns: no collectives, a job that only waits
 *
 * Rank 0 prints "NAME VALUE" for each figure [ms], "check SUM" over all results, then "ready". */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "turns.h"

enum { kBytes = 1 << 20, kNumbers = kBytes / sizeof(double) };

static int rank, size;
static double *sent, *received;
static double checksum; /* of this rank; of whole numbers below 2^53, so exact in any order */

/* Returns number `n` that `from` sends to `to`: small whole numbers, whose sums are exact. */
static double number(int turn, int from, int to, size_t n) {
  return (double)(turn + from * 3 + to * 5 + (int)(n % 64));
}

static void require(int is_right, const char* what) {
  if (is_right) return;
  fprintf(stderr, "collectives: rank %d: %s is wrong\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double alltoall(int turn) {
  const size_t block = (size_t)(kNumbers / size);
  for (int to = 0; to < size; ++to)
    for (size_t n = 0; n < block; ++n) sent[(size_t)to * block + n] = number(turn, rank, to, n);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  MPI_Alltoall(sent, (int)block, MPI_DOUBLE, received, (int)block, MPI_DOUBLE, MPI_COMM_WORLD);
  const double time = MPI_Wtime() - start;
  for (int from = 0; from < size; ++from)
    for (size_t n = 0; n < block; ++n) {
      const double got = received[(size_t)from * block + n];
      require(got == number(turn, from, rank, n), "the result of an alltoall");
      checksum += got;
    }
  return time;
}

static double allreduce(int turn) {
  double of_ranks = 0;
  for (int from = 0; from < size; ++from) of_ranks += number(turn, from, 0, 0);
  for (size_t n = 0; n < kNumbers; ++n) sent[n] = number(turn, rank, 0, n);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  MPI_Allreduce(sent, received, kNumbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double time = MPI_Wtime() - start;
  for (size_t n = 0; n < kNumbers; ++n) {
    require(received[n] == of_ranks + (double)size * (double)(n % 64),
            "the result of an allreduce");
    checksum += received[n];
  }
  return time;
}

/* Waits at all ranks until rank 0's standard input ends. No rank spins meanwhile, because the
 * measuring program needs a processor. */
static void wait_for_end_of_input(void) {
  const struct timespec tick = {.tv_nsec = 10000000};
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("ready\n");
    fflush(stdout);
    for (char byte; read(STDIN_FILENO, &byte, 1) > 0;) {
    }
  }
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int is_over = 0; !is_over;) {
    MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    if (!is_over) nanosleep(&tick, NULL);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  /* By mmap: malloc might keep memory that is freed. */
  void* const data =
      mmap(NULL, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(data != MAP_FAILED, "the limit of memory");
  sent = data;
  received = sent + kNumbers;
  if (!(argc > 1 && strcmp(argv[1], "--no-turns") == 0)) {
    print_median("alltoall", alltoall);
    print_median("allreduce", allreduce);
  }
  print_sum("check", checksum);
  munmap(data, 2 * kBytes);
  wait_for_end_of_input();
  MPI_Finalize();
  return 0;
}
