/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_traffic.c - random messages among all ranks for a while, every byte of them checked. Knows
 * nothing of Nagaya.
 *   mpi_traffic SECONDS SEED THREADS [cancels]
 *
 * Goes by rounds. A round's messages come from the seed, so that every rank knows all of them: from
 * whom to whom, how long, with which tag, sent how, awaited by their sender or not. Each receiver
 * chooses whether it asks for them one by one, takes whatever comes into receives that are open for
 * all, or probes. Each thread has a communicator and rounds of its own. `cancels`: sends that
 * nobody receives are taken back, which Open MPI's own transports cannot do. */
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { kMessages = 40, kMost = 300000, kThreadsMost = 8, kTags = 3, kTagOfNobody = 50 };
enum { kRoundsAtOnce = 20 };
/* The buffer that a thread's buffered sends of two rounds need. */
enum { kAttached = 2 * kMessages * (kMost + MPI_BSEND_OVERHEAD) };
/* The memory that a program may have allocated at the end beyond that when it was warm. */
static const size_t kGrowth = 8 << 20;

static int rank, size, threads;
static double seconds;
static bool cancels;

struct message {
  int from, to, tag, bytes;
  enum { kStandard, kSynchronous, kBuffered, kModes } mode;
  bool is_apart; /* in the sender's memory, a gap behind each byte */
  bool is_freed; /* its request, at once: it has gone when everybody has come to the barrier */
  uint32_t seed;
  bool has_come;
};

struct traffic {
  MPI_Comm comm, nobody; /* on `nobody` nothing is received */
  uint64_t random;       /* the same in all ranks */
  uint64_t choices;      /* of this rank */
  MPI_Datatype apart;
  int count;
  struct message messages[kMessages];
  unsigned char *out[kMessages], *in[kMessages];
  bool in_apart[kMessages]; /* messages into it go with a gap behind each byte, too */
};

static uint32_t next(uint64_t* state, uint32_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((*state >> 33) % below);
}

static int random_bytes(uint64_t* state) {
  static const uint32_t kLimits[] = {1, 17, 41, 4097, 5000, 70000, kMost + 1};
  return (int)next(state, kLimits[next(state, sizeof kLimits / sizeof *kLimits)]);
}

static unsigned char byte_of(const struct message* message, int n) {
  return (unsigned char)(message->seed + (uint32_t)n * 7 + ((uint32_t)n >> 8));
}

static void plan(struct traffic* traffic) {
  uint64_t* const random = &traffic->random;
  traffic->count = 1 + (int)next(random, kMessages);
  for (int n = 0; n < traffic->count; ++n) {
    struct message* const message = &traffic->messages[n];
    message->from = (int)next(random, (uint32_t)size);
    message->to = (int)next(random, (uint32_t)size);
    message->tag = (int)next(random, kTags);
    message->bytes = random_bytes(random);
    message->mode = next(random, kModes);
    message->is_apart = next(random, 4) == 0;
    message->is_freed = next(random, 4) == 0;
    message->seed = next(random, 1u << 30);
    message->has_come = false;
  }
}

/* ---- sending ------------------------------------------------------------------------------- */

static void start(struct traffic* traffic, int n, MPI_Request* request) {
  static int (*const kStart[])(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = {
      [kStandard] = MPI_Isend, [kSynchronous] = MPI_Issend, [kBuffered] = MPI_Ibsend};
  const struct message* const message = &traffic->messages[n];
  const int stride = message->is_apart ? 2 : 1;
  for (int k = 0; k < message->bytes; ++k) traffic->out[n][k * stride] = byte_of(message, k);
  kStart[message->mode](traffic->out[n], message->bytes,
                        message->is_apart ? traffic->apart : MPI_BYTE, message->to, message->tag,
                        traffic->comm, request);
  if (message->is_freed) MPI_Request_free(request);
}

static void take_one_back(struct traffic* traffic) {
  MPI_Request request;
  MPI_Status status;
  int was_cancelled = 0;
  MPI_Isend(traffic->out[0], random_bytes(&traffic->choices), MPI_BYTE,
            (int)next(&traffic->choices, (uint32_t)size), kTagOfNobody, traffic->nobody, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &was_cancelled);
  EXPECT_EQUAL(was_cancelled, 1);
}

/* ---- receiving ----------------------------------------------------------------------------- */

static void check(struct message* message, const unsigned char* data, int stride,
                  MPI_Status* status) {
  int bytes;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  EXPECT_EQUAL(bytes, message->bytes);
  EXPECT_EQUAL(status->MPI_SOURCE, message->from);
  EXPECT_EQUAL(status->MPI_TAG, message->tag);
  for (int k = 0; k < bytes; ++k)
    if (data[k * stride] != byte_of(message, k))
      EXPECT_EQUAL(data[k * stride], byte_of(message, k));
  message->has_come = true;
}

/* The first of that source and tag that has not come: they do not overtake each other. */
static struct message* first_of(struct traffic* traffic, const MPI_Status* status) {
  for (int n = 0; n < traffic->count; ++n) {
    struct message* const message = &traffic->messages[n];
    if (message->to == rank && !message->has_come && message->from == status->MPI_SOURCE &&
        message->tag == status->MPI_TAG)
      return message;
  }
  EXPECT(!"a message that nobody has sent");
  return NULL;
}

/* Whether each receive names its message, or takes any. */
static int ask(struct traffic* traffic, bool for_any, MPI_Request* requests) {
  int count = 0;
  for (int n = 0; n < traffic->count; ++n) {
    const struct message* const message = &traffic->messages[n];
    if (message->to != rank) continue;
    traffic->in_apart[count] = next(&traffic->choices, 4) == 0;
    MPI_Irecv(traffic->in[count], for_any ? kMost : message->bytes,
              traffic->in_apart[count] ? traffic->apart : MPI_BYTE,
              for_any ? MPI_ANY_SOURCE : message->from, for_any ? MPI_ANY_TAG : message->tag,
              traffic->comm, &requests[count]);
    ++count;
  }
  return count;
}

static void take_asked(struct traffic* traffic, int count, MPI_Request* requests) {
  MPI_Status statuses[kMessages];
  int all_come = 0;
  while (next(&traffic->choices, 8) != 0 && !all_come)
    MPI_Testall(count, requests, &all_come, statuses);
  if (!all_come) MPI_Waitall(count, requests, statuses);
  for (int n = 0; n < count; ++n)
    check(first_of(traffic, &statuses[n]), traffic->in[n], traffic->in_apart[n] ? 2 : 1,
          &statuses[n]);
}

static void probe_for_all(struct traffic* traffic) {
  int left = 0;
  for (int n = 0; n < traffic->count; ++n) left += traffic->messages[n].to == rank;
  for (; left > 0; --left) {
    MPI_Status status;
    MPI_Message found = MPI_MESSAGE_NULL;
    const bool takes = threads > 1 || next(&traffic->choices, 2) == 0;
    if (takes)
      MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, traffic->comm, &found, &status);
    else
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, traffic->comm, &status);
    struct message* const message = first_of(traffic, &status);
    if (takes)
      MPI_Mrecv(traffic->in[0], message->bytes, MPI_BYTE, &found, &status);
    else
      MPI_Recv(traffic->in[0], message->bytes, MPI_BYTE, message->from, message->tag, traffic->comm,
               &status);
    check(message, traffic->in[0], 1, &status);
  }
}

static void change_ones_mind(struct traffic* traffic) {
  MPI_Request request;
  MPI_Status status;
  int was_cancelled = 0;
  MPI_Irecv(traffic->in[0], kMost, MPI_BYTE, MPI_ANY_SOURCE, kTagOfNobody, traffic->comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &was_cancelled);
  EXPECT_EQUAL(was_cancelled, 1);
}

/* ---- rounds -------------------------------------------------------------------------------- */

static void one_round(struct traffic* traffic) {
  MPI_Request sends[kMessages], receives[kMessages];
  int sent = 0, asked = 0;
  const uint32_t way = next(&traffic->choices, 4);
  plan(traffic);
  if (way < 2) asked = ask(traffic, way == 1, receives);
  for (int n = 0; n < traffic->count; ++n)
    if (traffic->messages[n].from == rank) start(traffic, n, &sends[sent++]);
  if (way == 2) asked = ask(traffic, false, receives);
  if (way == 3)
    probe_for_all(traffic);
  else
    take_asked(traffic, asked, receives);
  MPI_Waitall(sent, sends, MPI_STATUSES_IGNORE);
  if (next(&traffic->choices, 10) == 0) change_ones_mind(traffic);
  if (cancels && next(&traffic->choices, 10) == 0) take_one_back(traffic);
}

static size_t allocated(void) {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/* Rank 0 says when it is over. The receives that are open for all take this round's messages only:
 * nobody is a round ahead. */
static void* run(void* argument) {
  struct traffic* const traffic = argument;
  const double begin = MPI_Wtime();
  size_t warm = 0;
  for (int goes_on = 1; goes_on;) {
    for (int n = 0; n < kRoundsAtOnce; ++n) {
      one_round(traffic);
      MPI_Barrier(traffic->comm);
    }
    const double elapsed = MPI_Wtime() - begin;
    if (warm == 0 && elapsed > seconds / 4) warm = allocated();
    goes_on = elapsed < seconds;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, traffic->comm);
  }
  if (threads == 1 && warm != 0) EXPECT_EQUAL(allocated() < warm + kGrowth, 1);
  return NULL;
}

static void prepare(struct traffic* traffic, int number, uint64_t seed) {
  MPI_Comm_dup(MPI_COMM_WORLD, &traffic->comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &traffic->nobody);
  MPI_Type_create_resized(MPI_BYTE, 0, 2, &traffic->apart);
  MPI_Type_commit(&traffic->apart);
  traffic->random = seed + (uint64_t)number;
  traffic->choices = seed * 1000003 + (uint64_t)(number * size + rank);
  for (int n = 0; n < kMessages; ++n) {
    traffic->out[n] = malloc(2 * kMost);
    traffic->in[n] = malloc(2 * kMost);
  }
}

static void leave(struct traffic* traffic) {
  for (int n = 0; n < kMessages; ++n) {
    free(traffic->out[n]);
    free(traffic->in[n]);
  }
  MPI_Type_free(&traffic->apart);
  MPI_Comm_free(&traffic->nobody);
  MPI_Comm_free(&traffic->comm);
}

int main(int argc, char** argv) {
  static struct traffic traffic[kThreadsMost];
  pthread_t running[kThreadsMost];
  if (argc < 4) return 2;
  seconds = atof(argv[1]);
  threads = atoi(argv[3]);
  cancels = argc > 4;
  const int wanted = threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  EXPECT_EQUAL(provided >= wanted, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  void* const attached = malloc((size_t)threads * kAttached);
  MPI_Buffer_attach(attached, threads * kAttached);
  for (int n = 0; n < threads; ++n) prepare(&traffic[n], n, strtoull(argv[2], NULL, 10));
  for (int n = 1; n < threads; ++n) pthread_create(&running[n], NULL, run, &traffic[n]);
  run(&traffic[0]);
  for (int n = 1; n < threads; ++n) pthread_join(running[n], NULL);
  for (int n = 0; n < threads; ++n) leave(&traffic[n]);
  void* detached;
  int bytes;
  MPI_Buffer_detach(&detached, &bytes);
  EXPECT_EQUAL(detached == attached && bytes == threads * kAttached, 1);
  free(attached);
  if (rank == 0) printf("traffic of %d threads among %d: every byte right\n", threads, size);
  MPI_Finalize();
  return 0;
}
