/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_launched.c - a rank prints what its launcher has told it, and asks for more: ranks, names.
 *
 *   report [CODE]      every rank prints its place in the job; all return CODE when rank 0
 *                      has got input, or its end
 *   spawn LEVELS WORD...   starts two ranks of the command WORD..., with the arguments
 *                      "spawn LEVELS-1 WORD..." added: they do the same, down to level 0
 *   names              the last rank finds what rank 0 has published, until it is withdrawn
 *   connect            rank 0 publishes a port, rank 1 finds it, and the two connect
 *   touch MIB          every rank writes to so much memory, and keeps it until all have */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPAWNED = 2, WORDS_MAX = 32, ANSWER = 42 };

static const char name[] = "name-of-mpi_launched"; /* PMI-1 has no blanks in its values */
static int rank, size;

/* Returns -1 if the launcher has not told it. */
static int told(int key) {
  int* value;
  int is_told;
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, (void*)&value, &is_told);
  return is_told ? *value : -1;
}

static int report(int code) {
  char line[160]; /* written at once, because launchers mix the output of their ranks */
  /* A lone rank of MPICH would start the mpiexec that it finds in PATH, to ask it. */
  const int universe = size > 1 ? told(MPI_UNIVERSE_SIZE) : 1;
  const int length =
      snprintf(line, sizeof line, "rank %d of %d, process %d, program %d, universe %d\n", rank,
               size, (int)getpid(), told(MPI_APPNUM), universe);
  if (write(STDOUT_FILENO, line, (size_t)length) != length) return 98;
  if (rank == 0 && read(STDIN_FILENO, line, sizeof line) < 0) return 97;
  MPI_Barrier(MPI_COMM_WORLD);
  return code;
}

/* Adds up the ranks of both groups. */
static void add_up(MPI_Comm other, int level, int is_spawned) {
  MPI_Comm all;
  int of_all, size_of_all, sum;
  MPI_Intercomm_merge(other, is_spawned, &all);
  MPI_Comm_rank(all, &of_all);
  MPI_Comm_size(all, &size_of_all);
  MPI_Allreduce(&of_all, &sum, 1, MPI_INT, MPI_SUM, all);
  if (of_all == 0) printf("level %d: %d ranks, sum %d\n", level, size_of_all, sum), fflush(stdout);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&other);
}

static int spawn(int level, char** command) {
  char below[12], *words[WORDS_MAX] = {NULL};
  int count = 0;
  MPI_Comm other;
  MPI_Comm_get_parent(&other);
#ifdef MPICH
  if (other != MPI_COMM_NULL && told(MPI_UNIVERSE_SIZE) != -1) return 96; /* as by mpiexec */
#endif
  if (other != MPI_COMM_NULL) add_up(other, level + 1, 1);
  if (level == 0) return 0;
  for (int n = 1; command[n] != NULL && count < WORDS_MAX / 3; ++n) words[count++] = command[n];
  words[count++] = "spawn";
  snprintf(below, sizeof below, "%d", level - 1);
  words[count++] = below;
  for (int n = 0; command[n] != NULL && count < WORDS_MAX - 1; ++n) words[count++] = command[n];
  MPI_Comm_spawn(command[0], words, SPAWNED, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                 MPI_ERRCODES_IGNORE);
  add_up(other, level, 0);
  return 0;
}

static int use_names(void) {
  char port[MPI_MAX_PORT_NAME] = "tag#0$port";
  if (rank == 0) MPI_Publish_name(name, MPI_INFO_NULL, port);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) {
    MPI_Lookup_name(name, MPI_INFO_NULL, port);
    printf("found: %s\n", port);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Unpublish_name(name, MPI_INFO_NULL, port);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == size - 1 && MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS)
    printf("not found any more\n");
  return 0;
}

static int connect_by_name(void) {
  char port[MPI_MAX_PORT_NAME];
  int got = 0, answer = ANSWER;
  MPI_Comm other;
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(name, MPI_INFO_NULL, port);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    MPI_Recv(&got, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&other);
    printf("connected by a name: %d\n", got);
    MPI_Unpublish_name(name, MPI_INFO_NULL, port);
    MPI_Close_port(port);
  } else if (rank == 1) {
    MPI_Lookup_name(name, MPI_INFO_NULL, port);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    MPI_Send(&answer, 1, MPI_INT, 0, 0, other);
    MPI_Comm_disconnect(&other);
  }
  return 0;
}

static int touch(size_t mib) {
  char* const block = malloc(mib << 20);
  if (block == NULL) return 96;
  memset(block, 1, mib << 20);
  const int code = block[(mib << 20) - 1] == 1 ? 0 : 95;
  MPI_Barrier(MPI_COMM_WORLD); /* all have theirs now */
  free(block);
  return code;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* act = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  int code = 99;
  if (strcmp(act, "report") == 0) code = report(number);
  if (strcmp(act, "spawn") == 0) code = spawn(number, argv + 3);
  if (strcmp(act, "names") == 0) code = use_names();
  if (strcmp(act, "connect") == 0) code = connect_by_name();
  if (strcmp(act, "touch") == 0) code = touch((size_t)number);
  MPI_Finalize();
  return code;
}
