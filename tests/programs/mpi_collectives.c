/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_collectives.c - random collectives, blocking and not, many at a time, on several
 * communicators, with messages beside them. Every byte of every buffer is compared with a
 * reference that each rank computes by itself. Knows nothing of Nagaya.
 *   mpi_collectives ROUNDS SEED [KINDS]           KINDS: such as "bcast,allreduce"; else all
 *   mpi_collectives threads ROUNDS SEED [KINDS]   3 threads, each on communicators of its own
 *   mpi_collectives dups N                        N copies of MPI_COMM_WORLD at once
 * `mild` before the numbers: nothing that Open MPI's own collectives do wrongly.
 *
 * A round's collectives come from the seed and the round's number, so that all ranks agree. Each
 * rank chooses how it completes them, and how late it starts them. A round:
 *
 *   | make and free communicators | start messages | start calls, check blocking ones | complete
 * and check the others, in any order | compare the times of barriers | bits of a sum of doubles |
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collective_call.h"
#include "expect.h"

enum { kCallsMost = 20, kMessagesMost = 6, kMessageBytesMost = 100000, kThreads = 3 };
enum { kRequestsMost = kCallsMost + 2 * kMessagesMost };
enum { kWorld, kDuplicate, kReversed, kWholeGroups, kSplit = kWholeGroups, kPassing, kGroups };
enum { kTagOfTimes = 100, kSumMost = 3000, kLatestUs = 300 };
/* In the memory of all ranks. */
static const size_t kBytesOfRound = 8 << 20;

static int rank, size;
static bool is_kind_wished[kKinds];

struct message {
  int from, to, bytes; /* ranks of its communicator */
  uint64_t seed;
  unsigned char *out, *in;
};

/* The run of one thread. */
struct run {
  struct group groups[kGroups];
  bool makes_groups;
  uint64_t seed;
  uint64_t random;  /* the same at all ranks; of the round */
  uint64_t choices; /* of this rank */
  int rounds, round;
  struct group* message_group;
  int messages_count, calls_count, requests_count;
  struct message messages[kMessagesMost];
  struct call calls[kCallsMost];
  MPI_Request requests[kRequestsMost];
  struct call* call_of[kRequestsMost]; /* the owner of the request; or NULL: */
  struct message* message_of[kRequestsMost];
};

/* ---- communicators ------------------------------------------------------------------------- */

static void set_group(struct group* group, const char* name, MPI_Comm comm) {
  *group = (struct group){.name = name, .comm = comm};
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(comm, &group->rank);
  MPI_Comm_size(comm, &group->size);
}

static MPI_Comm split(const struct group* parent, int color, int key) {
  MPI_Comm made;
  MPI_Comm_split(parent->comm, color, key, &made);
  return made;
}

/* Every second rank, the last one first. */
static MPI_Comm every_second(const struct group* parent) {
  MPI_Comm made;
  MPI_Group all, some;
  const int last = parent->size - 1, first = last % 2;
  MPI_Comm_group(parent->comm, &all);
  MPI_Group_range_incl(all, 1, (int[][3]){{last, first, -2}}, &some);
  MPI_Comm_create(parent->comm, some, &made);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

static MPI_Comm duplicate_later(const struct group* parent) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(parent->comm, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return made;
}

static void make_group(struct run* run, struct group* group) {
  const struct group* const parent = &run->groups[draw(&run->random, kWholeGroups)];
  const uint64_t random = mixed(run->random, (uint64_t)parent->rank);
  MPI_Comm made = MPI_COMM_NULL;
  switch (draw(&run->random, 5)) {
    case 0:
      MPI_Comm_dup(parent->comm, &made);
      return set_group(group, "copy", made);
    case 1:
      return set_group(group, "part", split(parent, (int)(random % 3), (int)(random >> 40)));
    case 2:
      return set_group(group, "part of some",
                       split(parent, random % 3 == 0 ? MPI_UNDEFINED : 0, (int)(random >> 40)));
    case 3:
      return set_group(group, "every second", every_second(parent));
    default:
      return set_group(group, "later copy", duplicate_later(parent));
  }
}

static void remake_group(struct run* run, struct group* group) {
  if (group->comm != MPI_COMM_NULL) MPI_Comm_free(&group->comm);
  make_group(run, group);
}

static void make_groups(struct run* run, MPI_Comm world) {
  struct group* const groups = run->groups;
  MPI_Comm duplicate;
  set_group(&groups[kWorld], "world", world);
  MPI_Comm_dup(world, &duplicate);
  set_group(&groups[kDuplicate], "copy of world", duplicate);
  set_group(&groups[kReversed], "reversed", split(&groups[kWorld], 0, -groups[kWorld].rank));
  make_group(run, &groups[kSplit]);
  make_group(run, &groups[kPassing]);
}

static void free_groups(struct run* run) {
  for (int n = kDuplicate; n < kGroups; ++n)
    if (run->groups[n].comm != MPI_COMM_NULL) MPI_Comm_free(&run->groups[n].comm);
}

/* ---- messages beside the collectives ------------------------------------------------------- */

static void add_request(struct run* run, struct call* call, struct message* message) {
  run->call_of[run->requests_count] = call;
  run->message_of[run->requests_count] = message;
  ++run->requests_count;
}

static void start_message(struct run* run, struct message* message, int tag) {
  const struct group* const group = run->message_group;
  const size_t bytes = (size_t)message->bytes;
  message->out = message->in = NULL;
  if (message->to == group->rank) {
    message->in = malloc(bytes + 1);
    MPI_Irecv(message->in, message->bytes, MPI_BYTE, message->from, tag, group->comm,
              &run->requests[run->requests_count]);
    add_request(run, NULL, message);
  }
  if (message->from == group->rank) {
    message->out = malloc(bytes + 1);
    fill(message->seed, message->out, bytes);
    MPI_Isend(message->out, message->bytes, MPI_BYTE, message->to, tag, group->comm,
              &run->requests[run->requests_count]);
    add_request(run, NULL, NULL);
  }
}

static void start_messages(struct run* run) {
  run->message_group = &run->groups[draw(&run->random, kWholeGroups)];
  run->messages_count = 0;
  if (draw(&run->random, 2) == 0) return;
  run->messages_count = 1 + (int)draw(&run->random, kMessagesMost);
  for (int n = 0; n < run->messages_count; ++n) {
    struct message* const message = &run->messages[n];
    message->from = (int)draw(&run->random, (uint32_t)size);
    message->to = (int)draw(&run->random, (uint32_t)size);
    message->bytes = (int)draw(&run->random, draw(&run->random, 2) == 0 ? 100 : kMessageBytesMost);
    message->seed = mixed(run->random, 0);
    start_message(run, message, n);
  }
}

static void check_message(const struct run* run, const struct message* message) {
  const size_t bytes = (size_t)message->bytes;
  unsigned char* const expected = malloc(bytes + 1);
  fill(message->seed, expected, bytes);
  if (memcmp(message->in, expected, bytes) != 0) {
    fprintf(stderr, "round %d: the message of %zu bytes from rank %d to %d of %s is wrong\n",
            run->round, bytes, message->from, message->to, run->message_group->name);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  free(expected);
}

static void free_messages(struct run* run) {
  for (int n = 0; n < run->messages_count; ++n) {
    free(run->messages[n].out);
    free(run->messages[n].in);
  }
}

/* ---- completion ---------------------------------------------------------------------------- */

/* Its data must be there now, whatever else is under way. */
static void finish(struct run* run, int n) {
  if (run->call_of[n] != NULL) finish_call(run->call_of[n]);
  if (run->message_of[n] != NULL) check_message(run, run->message_of[n]);
  run->call_of[n] = NULL;
  run->message_of[n] = NULL;
  if (run->requests[n] != MPI_REQUEST_NULL) MPI_Request_free(&run->requests[n]); /* persistent */
}

static void complete_at_once(struct run* run, bool by_tests) {
  int is_complete = 0;
  while (by_tests && !is_complete)
    MPI_Testall(run->requests_count, run->requests, &is_complete, MPI_STATUSES_IGNORE);
  if (!by_tests) MPI_Waitall(run->requests_count, run->requests, MPI_STATUSES_IGNORE);
  for (int n = 0; n < run->requests_count; ++n) finish(run, n);
}

static void complete_any(struct run* run, bool by_tests) {
  for (int n = 0; n != MPI_UNDEFINED;) {
    int is_complete = 1;
    if (by_tests)
      MPI_Testany(run->requests_count, run->requests, &n, &is_complete, MPI_STATUS_IGNORE);
    else
      MPI_Waitany(run->requests_count, run->requests, &n, MPI_STATUS_IGNORE);
    if (!is_complete)
      n = 0;
    else if (n != MPI_UNDEFINED)
      finish(run, n);
  }
}

static void complete_some(struct run* run) {
  int count, which[kRequestsMost];
  for (;;) {
    MPI_Waitsome(run->requests_count, run->requests, &count, which, MPI_STATUSES_IGNORE);
    if (count == MPI_UNDEFINED) return;
    for (int n = 0; n < count; ++n) finish(run, which[n]);
  }
}

static void complete_each(struct run* run, bool by_tests) {
  if (run->requests_count == 0) return;
  const int first = (int)draw(&run->choices, (uint32_t)run->requests_count);
  const bool is_backwards = draw(&run->choices, 2) == 0;
  for (int n = 0; n < run->requests_count; ++n) {
    int k = (first + n) % run->requests_count;
    if (is_backwards) k = run->requests_count - 1 - k;
    int is_complete = 0;
    while (by_tests && !is_complete) MPI_Test(&run->requests[k], &is_complete, MPI_STATUS_IGNORE);
    if (!by_tests) MPI_Wait(&run->requests[k], MPI_STATUS_IGNORE);
    finish(run, k);
  }
}

static void complete(struct run* run) {
  const uint32_t way = draw(&run->choices, 7);
  if (way < 2)
    complete_at_once(run, way == 0);
  else if (way < 4)
    complete_any(run, way == 2);
  else if (way < 6)
    complete_each(run, way == 4);
  else
    complete_some(run);
}

/* ---- barriers and sums --------------------------------------------------------------------- */

/* Nobody leaves a barrier before everybody has entered it. By messages, for
 * collectives are under test. */
static void compare_times(const struct call* call) {
  const struct group* const group = &call->group;
  double last_s = call->entered_s;
  if (group->rank == 0) {
    for (int n = 1; n < group->size; ++n) {
      double entered_s;
      MPI_Recv(&entered_s, 1, MPI_DOUBLE, n, kTagOfTimes, group->comm, MPI_STATUS_IGNORE);
      if (entered_s > last_s) last_s = entered_s;
    }
    for (int n = 1; n < group->size; ++n)
      MPI_Send(&last_s, 1, MPI_DOUBLE, n, kTagOfTimes, group->comm);
  } else {
    MPI_Send(&call->entered_s, 1, MPI_DOUBLE, 0, kTagOfTimes, group->comm);
    MPI_Recv(&last_s, 1, MPI_DOUBLE, 0, kTagOfTimes, group->comm, MPI_STATUS_IGNORE);
  }
  if (call->left_s < last_s)
    fail(call, "it left %.0f ns before another rank entered", (last_s - call->left_s) * 1e9);
}

/* Sums of doubles depend on the order of additions: all ranks must have the same bits. */
static void compare_bits(struct run* run, const struct group* group, uint64_t seed) {
  static _Thread_local double own[kSumMost], sums[kSumMost], others[kSumMost];
  struct call call = {.round = run->round, .kind = kAllreduce, .group = *group};
  call.is_blocking = draw(&seed, 2) == 0;
  call.count = (int)draw(&seed, draw(&seed, 2) == 0 ? 20 : kSumMost);
  call.root = (int)draw(&seed, (uint32_t)group->size);
  for (int n = 0; n < call.count; ++n)
    own[n] = (double)(int64_t)mixed(seed + (uint64_t)group->rank, (uint64_t)n) / 3;
  if (call.is_blocking) {
    MPI_Allreduce(own, sums, call.count, MPI_DOUBLE, MPI_SUM, group->comm);
  } else {
    MPI_Request request;
    MPI_Iallreduce(own, sums, call.count, MPI_DOUBLE, MPI_SUM, group->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  memcpy(others, sums, sizeof sums);
  MPI_Bcast(others, call.count, MPI_DOUBLE, call.root, group->comm);
  for (int n = 0; n < call.count; ++n) {
    double sum = 0, magnitude = 0;
    for (int k = 0; k < group->size; ++k) {
      const double value = (double)(int64_t)mixed(seed + (uint64_t)k, (uint64_t)n) / 3;
      sum += value;
      magnitude += value < 0 ? -value : value;
    }
    const double error = sums[n] < sum ? sum - sums[n] : sums[n] - sum;
    if (error > 1e-14 * group->size * magnitude)
      fail(&call, "sum %d of doubles is %a, not about %a", n, sums[n], sum);
    if (memcmp(&sums[n], &others[n], sizeof *sums) != 0)
      fail(&call, "sum %d of doubles is %a, but %a at the root", n, sums[n], others[n]);
  }
}

/* ---- rounds -------------------------------------------------------------------------------- */

static void start_late(struct run* run) {
  if (draw(&run->choices, 8) == 0) usleep(draw(&run->choices, kLatestUs));
}

static enum kind draw_kind(uint64_t* random) {
  for (;;) {
    const enum kind kind = draw(random, kKinds);
    if (is_kind_wished[kind]) return kind;
  }
}

static void start_calls(struct run* run) {
  uint64_t* const random = &run->random;
  const bool is_many = draw(random, 3) == 0, is_one_group = draw(random, 2) == 0;
  const bool is_one_kind = draw(random, 4) == 0;
  const enum kind one_kind = draw_kind(random);
  const uint32_t one_group = draw(random, kGroups), blocking_of_8 = draw(random, 9);
  run->calls_count = is_many ? 1 + (int)draw(random, kCallsMost) : 1;
  for (int n = 0; n < run->calls_count; ++n) {
    struct call* const call = &run->calls[n];
    const uint32_t group = draw(random, kGroups);
    *call = (struct call){.round = run->round, .number = n};
    call->group = run->groups[is_one_group ? one_group : group];
    call->kind = is_one_kind ? one_kind : draw_kind(random);
    call->is_blocking = draw(random, 8) < blocking_of_8;
    call->seed = mixed(*random, 0);
    if (call->group.comm == MPI_COMM_NULL) continue;
    plan_call(call, kBytesOfRound / (size_t)run->calls_count);
    start_late(run);
    start_call(call, &run->requests[run->requests_count]);
    if (call->is_blocking)
      finish_call(call);
    else
      add_request(run, call, NULL);
  }
}

/* A communicator is freed before its collectives are complete: they go on. (coll/libnbc, which is
 * used on one rank, forgets them.) */
static bool may_be_freed_early(const struct group* group) {
  return group->comm != MPI_COMM_NULL && group->size > 1;
}

static void complete_round(struct run* run, bool frees_passing) {
  struct group* const passing = &run->groups[kPassing];
  const MPI_Comm comm = passing->comm;
  if (frees_passing && may_be_freed_early(passing)) MPI_Comm_free(&passing->comm);
  complete(run);
  free_messages(run);
  for (int n = 0; n < run->calls_count; ++n) {
    const struct call* const call = &run->calls[n];
    if (call->kind != kBarrier || call->group.comm == MPI_COMM_NULL) continue;
    if (!frees_passing || call->group.comm != comm) compare_times(call);
  }
  if (frees_passing) remake_group(run, passing);
}

static void one_round(struct run* run) {
  uint64_t* const random = &run->random;
  *random = mixed(run->seed, (uint64_t)run->round);
  run->requests_count = 0;
  const bool frees_passing = draw(random, 5) == 0 && run->makes_groups && !is_mild;
  for (int n = kSplit; n < kGroups; ++n)
    if (draw(random, 10) == 0 && run->makes_groups) remake_group(run, &run->groups[n]);
  start_messages(run);
  start_calls(run);
  complete_round(run, frees_passing);
  const struct group* const group = &run->groups[draw(random, kGroups)];
  if (draw(random, 10) == 0 && is_kind_wished[kAllreduce] && group->comm != MPI_COMM_NULL)
    compare_bits(run, group, mixed(*random, 1));
}

static void* run_rounds(void* argument) {
  struct run* const run = argument;
  for (run->round = 0; run->round < run->rounds; ++run->round) one_round(run);
  return NULL;
}

static void prepare(struct run* run, MPI_Comm world, int rounds, uint64_t seed) {
  run->seed = run->random = seed;
  run->choices = mixed(seed, (uint64_t)rank + 1000000);
  run->rounds = rounds;
  make_groups(run, world);
}

/* ---- modes --------------------------------------------------------------------------------- */

static void run_alone(int rounds, uint64_t seed) {
  static struct run run = {.makes_groups = true};
  make_reference();
  prepare(&run, MPI_COMM_WORLD, rounds, seed);
  run_rounds(&run);
  free_groups(&run);
  free_reference();
  if (rank == 0) printf("%d rounds among %d\n", rounds, size);
}

static void run_threads(int rounds, uint64_t seed) {
  static struct run runs[kThreads];
  pthread_t threads[kThreads];
  MPI_Comm worlds[kThreads];
  make_reference();
  for (int n = 0; n < kThreads; ++n) {
    MPI_Comm_dup(MPI_COMM_WORLD, &worlds[n]);
    prepare(&runs[n], worlds[n], rounds, mixed(seed, (uint64_t)n));
  }
  for (int n = 1; n < kThreads; ++n) pthread_create(&threads[n], NULL, run_rounds, &runs[n]);
  run_rounds(&runs[0]);
  for (int n = 1; n < kThreads; ++n) pthread_join(threads[n], NULL);
  for (int n = 0; n < kThreads; ++n) {
    free_groups(&runs[n]);
    MPI_Comm_free(&worlds[n]);
  }
  free_reference();
  if (rank == 0) printf("%d rounds among %d\n", rounds, size);
}

static void run_dups(int count) {
  MPI_Comm* const comms = malloc((size_t)count * sizeof *comms);
  for (int n = 0; n < count; ++n) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[n]);
    MPI_Barrier(comms[n]);
    int sum = rank + n;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comms[n]);
    EXPECT_EQUAL(sum, size * (size - 1) / 2 + size * n);
  }
  for (int n = 0; n < count; ++n) MPI_Comm_free(&comms[n]);
  free(comms);
  if (rank == 0) printf("%d dups among %d\n", count, size);
}

/* `list`: names of kinds with commas between them; or NULL, for all. */
static void wish_kinds(const char* list) {
  char words[400], name[40];
  bool is_any = false;
  snprintf(words, sizeof words, ",%s,", list != NULL ? list : "");
  for (enum kind kind = 0; kind < kKinds; ++kind) {
    snprintf(name, sizeof name, ",%s,", kind_name(kind));
    is_kind_wished[kind] = list == NULL || strstr(words, name) != NULL;
    is_any = is_any || is_kind_wished[kind];
  }
  EXPECT(is_any);
}

int main(int argc, char** argv) {
  bool has_threads = false, is_dups = false;
  char** word = argv + 1;
  for (; *word != NULL && (*word)[0] > '9'; ++word) {
    has_threads |= strcmp(*word, "threads") == 0;
    is_dups |= strcmp(*word, "dups") == 0;
    is_mild |= strcmp(*word, "mild") == 0;
  }
  const int numbers = argc - (int)(word - argv);
  if (numbers < (is_dups ? 1 : 2)) return 2;
  const int wanted = has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  int provided;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  EXPECT(provided >= wanted);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  wish_kinds(numbers > 2 ? word[2] : NULL);
  const int count = atoi(word[0]);
  if (is_dups)
    run_dups(count);
  else if (has_threads)
    run_threads(count, strtoull(word[1], NULL, 10));
  else
    run_alone(count, strtoull(word[1], NULL, 10));
  MPI_Finalize();
  return 0;
}
