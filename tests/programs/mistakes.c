/* SPDX-License-Identifier: BSD-3-Clause */
/* mistakes.c - every process of a job makes every mistake that nagaya/llcl.h and nagaya/comm.h, and
 * many that nagaya/coll.h, have an answer to, with a neighbour on its own node or on another. After
 * each the neighbour still serves what is asked of it properly. Prints nothing unless something is
 * wrong. */
#include <errno.h>
#include <nagaya/coll.h>
#include <nagaya/comm.h>
#include <nagaya/task.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 16, LIMIT_MS = 20000, HANDLER = 5, UNKNOWN_HANDLER = 77 };

static int64_t rank, size;

#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      fprintf(stderr, "rank %d line %d: not so: %s\n", (int)rank, __LINE__, #condition); \
      _exit(1);                                                                          \
    }                                                                                    \
  } while (0)
#define EXPECT_ERROR(call, wanted)                                                            \
  do {                                                                                        \
    const int got = (call);                                                                   \
    if (got != (wanted)) {                                                                    \
      fprintf(stderr, "rank %d line %d: %s is %d, not %d\n", (int)rank, __LINE__, #call, got, \
              (wanted));                                                                      \
      _exit(1);                                                                               \
    }                                                                                         \
  } while (0)

/* Aligned, so that offset 4 is misaligned for 8 bytes. */
static uint64_t memory[WORDS], local[WORDS];
static uint64_t aside; /* not registered */
static nagaya_remote *all, neighbour;
static nagaya_completion none;

/* ---- a request's error, wherever it shows ---------------------------------------------------- */

static uint32_t flag;

#define OUTCOME(call)                           \
  int error;                                    \
  while ((error = (call)) == -EAGAIN) continue; \
  return error != 0 ? error : nagaya_llcl_wait_flag(&flag, LIMIT_MS)

static int write_outcome(nagaya_remote place, const void* from, size_t bytes) {
  flag = 0;
  const nagaya_llcl_transfer put = {place, (void*)from, bytes, nagaya_flag(&flag)};
  OUTCOME(nagaya_llcl_try_write(&put));
}

static int read_outcome(nagaya_remote place, void* to, size_t bytes) {
  flag = 0;
  const nagaya_llcl_transfer get = {place, to, bytes, nagaya_flag(&flag)};
  OUTCOME(nagaya_llcl_try_read(&get));
}

static int notify_outcome(nagaya_remote place, size_t bytes, nagaya_remote counter) {
  flag = 0;
  const nagaya_llcl_transfer put = {place, local, bytes, nagaya_flag(&flag)};
  OUTCOME(nagaya_llcl_try_write_notify(&put, &counter));
}

static int pieces_outcome(nagaya_remote place, nagaya_llcl_piece piece, bool writes) {
  flag = 0;
  piece.local = piece.local != NULL ? piece.local : local;
  const nagaya_llcl_pieces pieces = {place, &piece, 1, nagaya_flag(&flag)};
  if (writes) {
    OUTCOME(nagaya_llcl_try_write_pieces(&pieces));
  }
  OUTCOME(nagaya_llcl_try_read_pieces(&pieces));
}

static int atomic_outcome(nagaya_remote place, unsigned operation, unsigned type) {
  flag = 0;
  const nagaya_llcl_atomic atomic = {.remote = place,
                                     .operation = (nagaya_operation)operation,
                                     .type = (nagaya_type)type,
                                     .on_complete = nagaya_flag(&flag)};
  OUTCOME(nagaya_llcl_try_atomic(&atomic));
}

static int message_outcome(nagaya_process to, uint32_t handler, const void* data, size_t bytes) {
  flag = 0;
  OUTCOME(nagaya_llcl_try_message(to, handler, data, bytes, nagaya_flag(&flag)));
}

static int fence_outcome(uint32_t node) {
  flag = 0;
  OUTCOME(nagaya_llcl_try_fence(node, nagaya_flag(&flag)));
}

/* Checks the outcome of every call that names a place in memory. */
static void expect_of_place(nagaya_remote place, int wanted, int line) {
  const nagaya_llcl_piece piece = {NULL, 0, 8, 1, 8, 8};
  const int got[] = {write_outcome(place, local, 8),
                     read_outcome(place, local, 8),
                     notify_outcome(place, 8, neighbour),
                     notify_outcome(neighbour, 8, place),
                     pieces_outcome(place, piece, true),
                     pieces_outcome(place, piece, false),
                     atomic_outcome(place, NAGAYA_ADD, NAGAYA_UINT64),
                     write_outcome(place, local, 8)};
  for (size_t n = 0; n < sizeof got / sizeof *got; ++n)
    if (got[n] != wanted) {
      fprintf(stderr, "rank %d line %d: request %zu: %d, not %d\n", (int)rank, line, n, got[n],
              wanted);
      _exit(1);
    }
}
#define EXPECT_OF_PLACE(place, wanted) expect_of_place((place), (wanted), __LINE__)

static nagaya_remote moved(uint64_t offset) {
  nagaya_remote place = neighbour;
  place.offset = offset;
  return place;
}

static nagaya_remote of_process(uint32_t node, uint32_t task) {
  nagaya_remote place = neighbour;
  place.process.node = node;
  place.process.task = task;
  return place;
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void wrong_places(void) {
  EXPECT_OF_PLACE(moved(0), 0);
  EXPECT_OF_PLACE(moved(sizeof memory - 8), 0);
  const uint64_t outside[] = {sizeof memory, sizeof memory + 8, 1ull << 40, UINT64_MAX - 7,
                              INT64_MAX - 7ull};
  for (size_t n = 0; n < sizeof outside / sizeof *outside; ++n)
    EXPECT_OF_PLACE(moved(outside[n]), -EINVAL);
  EXPECT_ERROR(write_outcome(moved(sizeof memory - 7), local, 8), -EINVAL);
  EXPECT_ERROR(read_outcome(moved(sizeof memory - 7), local, 8), -EINVAL);
  EXPECT_ERROR(read_outcome(moved(sizeof memory), local, 0), 0);
  EXPECT_ERROR(read_outcome(moved(sizeof memory + 1), local, 0), -EINVAL);
  EXPECT_ERROR(write_outcome(moved(sizeof memory + 1), local, 0), -EINVAL);
  nagaya_remote place = neighbour;
  place.region = 0;
  EXPECT_OF_PLACE(place, -EINVAL);
  place.region = UINT32_MAX;
  EXPECT_OF_PLACE(place, -EINVAL);
  place.region = neighbour.region + (1u << 16); /* of another time */
  EXPECT_OF_PLACE(place, -EINVAL);
}

static void wrong_processes(void) {
  const nagaya_process right = neighbour.process;
  const uint32_t tasks[] = {right.task + 1000, right.task + 65536, right.task | 1u << 31, 65535,
                            UINT32_MAX};
  for (size_t n = 0; n < sizeof tasks / sizeof *tasks; ++n) {
    const nagaya_process nobody = {right.node, tasks[n]};
    EXPECT_OF_PLACE(of_process(right.node, tasks[n]), -EINVAL);
    const int error = message_outcome(nobody, HANDLER, local, 8);
    EXPECT(error == -EINVAL || error == -ESRCH);
  }
  const uint32_t nodes[] = {(uint32_t)nagaya_comm_nodes(), right.node + 65536, 1u << 31,
                            UINT32_MAX};
  for (size_t n = 0; n < sizeof nodes / sizeof *nodes; ++n) {
    const nagaya_process nobody = {nodes[n], right.task};
    EXPECT_OF_PLACE(of_process(nodes[n], right.task), -EINVAL);
    EXPECT_ERROR(message_outcome(nobody, HANDLER, local, 8), -EINVAL);
    EXPECT_ERROR(fence_outcome(nodes[n]), -EINVAL);
  }
}

static void wrong_sizes(void) {
  const size_t sizes[] = {sizeof memory + 1, 1ull << 40, 1ull << 63, SIZE_MAX - 100, SIZE_MAX};
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
    EXPECT_ERROR(write_outcome(neighbour, local, sizes[n]), -EINVAL);
    EXPECT_ERROR(read_outcome(neighbour, local, sizes[n]), -EINVAL);
    EXPECT_ERROR(notify_outcome(neighbour, sizes[n], neighbour), -EINVAL);
    EXPECT(nagaya_llcl_pointer(&all[rank], sizes[n]) == NULL);
  }
  for (size_t n = 1; n < sizeof sizes / sizeof *sizes; ++n)
    EXPECT_ERROR(message_outcome(neighbour.process, HANDLER, local, sizes[n]), -EMSGSIZE);
  EXPECT_ERROR(
      message_outcome(neighbour.process, HANDLER, local, NAGAYA_LLCL_MESSAGE_MAX + (size_t)1),
      -EMSGSIZE);
  EXPECT_ERROR(write_outcome(neighbour, NULL, 8), -EINVAL);
  EXPECT_ERROR(read_outcome(neighbour, NULL, 8), -EINVAL);
  EXPECT_ERROR(message_outcome(neighbour.process, HANDLER, NULL, 8), -EINVAL);
}

static void wrong_pieces(void) {
  const nagaya_llcl_piece wrong[] = {
      {NULL, sizeof memory, 8, 1, 8, 8},
      {NULL, 0, 8, 3, 8, sizeof memory / 2},
      {NULL, 0, 8, 2, 8, -8},
      {NULL, 8, 8, 3, 8, -8},
      {NULL, 0, 8, 2, 8, INT64_MAX - 7},
      {NULL, 0, 8, 2, 8, INT64_MIN},
      {NULL, UINT64_MAX - 7, 8, 2, 8, 8},
      {NULL, 0, 1ull << 40, 1, 0, 0},
      {NULL, 0, 8, 1ull << 61, 8, 8},
      {NULL, 0, 1ull << 32, 1ull << 32, 0, 0},
      {NULL, 0, 8, UINT64_MAX, 0, 8},
  };
  for (size_t n = 0; n < sizeof wrong / sizeof *wrong; ++n)
    for (int writes = 0; writes < 2; ++writes)
      if (pieces_outcome(neighbour, wrong[n], writes) != -EINVAL) {
        fprintf(stderr, "rank %d: wrong piece %zu is no mistake\n", (int)rank, n);
        _exit(1);
      }
  const nagaya_llcl_pieces nowhere = {neighbour, NULL, 3, none};
  EXPECT_ERROR(nagaya_llcl_try_read_pieces(&nowhere), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_try_write_pieces(&nowhere), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_try_read_pieces(NULL), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_try_write_pieces(NULL), -EINVAL);
}

static void wrong_atomics(void) {
  EXPECT_ERROR(atomic_outcome(neighbour, NAGAYA_MAX, NAGAYA_DOUBLE), 0);
  const unsigned wrong[] = {NAGAYA_MAX + 1, 255, 256, 65536, 1u << 31};
  for (size_t n = 0; n < sizeof wrong / sizeof *wrong; ++n) {
    EXPECT_ERROR(atomic_outcome(neighbour, wrong[n], NAGAYA_INT64), -EINVAL);
    EXPECT_ERROR(atomic_outcome(neighbour, NAGAYA_ADD, wrong[n]), -EINVAL);
  }
  for (unsigned operation = NAGAYA_AND; operation <= NAGAYA_XOR; ++operation) {
    EXPECT_ERROR(atomic_outcome(neighbour, operation, NAGAYA_FLOAT), -EINVAL);
    EXPECT_ERROR(atomic_outcome(neighbour, operation, NAGAYA_DOUBLE), -EINVAL);
  }
  for (uint64_t offset = 1; offset < 8; ++offset) {
    EXPECT_ERROR(atomic_outcome(moved(offset), NAGAYA_ADD, NAGAYA_UINT64), -EINVAL);
    EXPECT_ERROR(atomic_outcome(moved(offset), NAGAYA_ADD, NAGAYA_FLOAT),
                 offset % 4 == 0 ? 0 : -EINVAL);
  }
  EXPECT_ERROR(nagaya_llcl_try_atomic(NULL), -EINVAL);
}

static void wrong_completions(void) {
  const nagaya_completion wrong[] = {{NAGAYA_CALLBACK + 1, NULL, &flag},
                                     {256, NULL, &flag},
                                     {UINT32_MAX, NULL, &flag},
                                     nagaya_flag(NULL),
                                     nagaya_counter(NULL),
                                     nagaya_flag((uint32_t*)((char*)local + 1)),
                                     nagaya_counter((uint64_t*)((char*)local + 4)),
                                     nagaya_callback(NULL, &flag)};
  for (size_t n = 0; n < sizeof wrong / sizeof *wrong; ++n) {
    const nagaya_llcl_transfer put = {neighbour, local, 8, wrong[n]};
    const nagaya_llcl_atomic add = {neighbour, NAGAYA_ADD, NAGAYA_INT64, 1, 0, NULL, wrong[n]};
    nagaya_llcl_piece piece = {local, 0, 8, 1, 8, 8};
    const nagaya_llcl_pieces pieces = {neighbour, &piece, 1, wrong[n]};
    EXPECT_ERROR(nagaya_llcl_try_write(&put), -EINVAL);
    EXPECT_ERROR(nagaya_llcl_try_read(&put), -EINVAL);
    EXPECT_ERROR(nagaya_llcl_try_write_notify(&put, &neighbour), -EINVAL);
    EXPECT_ERROR(nagaya_llcl_try_atomic(&add), -EINVAL);
    EXPECT_ERROR(nagaya_llcl_try_write_pieces(&pieces), -EINVAL);
    EXPECT_ERROR(nagaya_llcl_try_read_pieces(&pieces), -EINVAL);
    EXPECT_ERROR(nagaya_llcl_try_fence(neighbour.process.node, wrong[n]), -EINVAL);
    EXPECT_ERROR(nagaya_llcl_try_message(neighbour.process, HANDLER, local, 8, wrong[n]), -EINVAL);
  }
  EXPECT_ERROR(nagaya_llcl_try_write(NULL), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_try_read(NULL), -EINVAL);
  const nagaya_llcl_transfer put = {neighbour, local, 8, none};
  EXPECT_ERROR(nagaya_llcl_try_write_notify(NULL, &neighbour), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_try_write_notify(&put, NULL), -EINVAL);
}

static void hear(void* context, nagaya_process source, const void* data, size_t bytes) {
  (void)context, (void)source, (void)data, (void)bytes;
}

/* Handed over and dropped, or refused by the completion. */
static void wrong_handlers(void) {
  const uint32_t wrong[] = {UNKNOWN_HANDLER, 255, 256, 65536 + HANDLER, UINT32_MAX};
  static unsigned char large[20000];
  for (size_t n = 0; n < sizeof wrong / sizeof *wrong; ++n) {
    const int small = message_outcome(neighbour.process, wrong[n], local, 8);
    const int other = message_outcome(neighbour.process, wrong[n], large, sizeof large);
    EXPECT(small == 0 || small == -ENOENT || small == -EINVAL);
    EXPECT(other == 0 || other == -ENOENT || other == -EINVAL);
  }
  EXPECT_ERROR(nagaya_llcl_handle(256, hear, NULL), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_handle(UINT32_MAX, hear, NULL), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_handle(1, NULL, NULL), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_handle(HANDLER, hear, NULL), -EEXIST);
}

static void wrong_registrations(void) {
  nagaya_remote place;
  EXPECT_ERROR(nagaya_llcl_register(NULL, 8, &place), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_register(&aside, 0, &place), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_register(&aside, 8, NULL), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_register(&aside, SIZE_MAX, &place), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_deregister(NULL), -EINVAL);
  place = all[rank];
  place.region = 0;
  EXPECT_ERROR(nagaya_llcl_deregister(&place), -EINVAL);
  if (size > 1) EXPECT_ERROR(nagaya_llcl_deregister(&neighbour), -EINVAL); /* not its own */
  EXPECT_ERROR(nagaya_llcl_register(&aside, 8, &place), 0);
  EXPECT_ERROR(nagaya_llcl_deregister(&place), 0);
  EXPECT_ERROR(nagaya_llcl_deregister(&place), -EINVAL);
  EXPECT(nagaya_llcl_pointer(&place, 8) == NULL && nagaya_llcl_pointer(NULL, 8) == NULL);
}

static void wrong_waits(void) {
  uint32_t never = 0;
  uint64_t few = 1;
  EXPECT_ERROR(nagaya_llcl_wait_flag(&never, 0), -ETIMEDOUT);
  EXPECT_ERROR(nagaya_llcl_wait_flag(&never, 10), -ETIMEDOUT);
  EXPECT_ERROR(nagaya_llcl_wait_counter(&few, 2, 10), -ETIMEDOUT);
  uint64_t many = UINT64_C(3) << 32;
  EXPECT(nagaya_llcl_wait_counter(&many, UINT64_C(3) << 32, 0) == 0);
  EXPECT_ERROR(nagaya_llcl_wait_counter(&many, (UINT64_C(3) << 32) + 1, 0), -ETIMEDOUT);
  many |= NAGAYA_COUNTER_FAILED;
  EXPECT_ERROR(nagaya_llcl_wait_counter(&many, 3, 0), -EIO);
}

static void wrong_ranks(void) {
  nagaya_process process;
  const int64_t wrong[] = {-1, size, INT64_MAX, INT64_MIN, rank + (1ll << 32)};
  for (size_t n = 0; n < sizeof wrong / sizeof *wrong; ++n)
    EXPECT_ERROR(nagaya_comm_process(wrong[n], &process), -EINVAL);
  EXPECT_ERROR(nagaya_comm_process(rank, NULL), -EINVAL);
  EXPECT_ERROR(nagaya_comm_allgather(NULL, 8, all), -EINVAL);
  EXPECT_ERROR(nagaya_comm_allgather(&aside, 8, NULL), -EINVAL);
}

/* A team of this process alone. */
static void wrong_collectives(void) {
  const nagaya_process own = all[rank].process;
  nagaya_team* team = NULL;
  nagaya_collective what = {.kind = NAGAYA_BCAST};
  EXPECT(nagaya_coll_algorithm(NULL, &what) == NULL);
  const nagaya_process twice[] = {own, own}, none = {own.node, UINT32_MAX - 1};
  const nagaya_process with_none[] = {own, none};
  nagaya_process process;
  nagaya_processes* members = NULL;
  EXPECT_ERROR(nagaya_processes_open(NULL, 1, 0, &members), -EINVAL);
  EXPECT_ERROR(nagaya_processes_open(&own, 1, 1, &members), -EINVAL);
  EXPECT_ERROR(nagaya_processes_open(twice, 2, 0, &members), -EINVAL);
  EXPECT_ERROR(nagaya_processes_open(with_none, 2, 0, &members), -EINVAL);
  EXPECT_ERROR(nagaya_processes_open(with_none, 2, 1, &members), -EINVAL);
  EXPECT_ERROR(nagaya_processes_open(&own, 1, 0, &members), 0);
  EXPECT_ERROR(nagaya_processes_at(members, 1, &process), -EINVAL);
  EXPECT_ERROR(nagaya_processes_at(members, 0, &process), 0);
  EXPECT_ERROR(nagaya_processes_rank_of(members, process), 0);
  EXPECT_ERROR(nagaya_processes_rank_of(members, none), -ENOENT);
  EXPECT_ERROR(nagaya_processes_are_here(members, 0, 2, 1), -EINVAL);
  EXPECT_ERROR(nagaya_processes_are_here(members, 0, 1, 1), 1);
  EXPECT_ERROR(nagaya_processes_close(NULL), -EINVAL);
  EXPECT_ERROR(nagaya_coll_open(0, NULL, 0, &team), -EINVAL);
  EXPECT_ERROR(nagaya_coll_open(0, members, 0, &team), 0);
  EXPECT_ERROR(nagaya_processes_close(members), 0);
  EXPECT(nagaya_coll_algorithm(team, &what) != NULL);
  what.may_detach = 1;
  EXPECT_ERROR(nagaya_coll_run(team, &what), 0);
  const nagaya_collective_kind others[] = {NAGAYA_BARRIER, NAGAYA_GATHER, NAGAYA_SCATTER,
                                           NAGAYA_ALLTOALL, NAGAYA_ALLREDUCE};
  for (size_t n = 0; n < sizeof others / sizeof *others; ++n) {
    what.kind = others[n];
    EXPECT_ERROR(nagaya_coll_run(team, &what), -EINVAL);
    EXPECT_ERROR(nagaya_coll_start(team, &what), -EINVAL);
    EXPECT_ERROR(nagaya_coll_detach(team, &what), -EINVAL);
  }
  const nagaya_runs runs = {&aside, sizeof aside, 1, 0};
  const nagaya_runs* const runs_of[] = {&runs};
  what = (nagaya_collective){
      .kind = NAGAYA_ALLREDUCE, .send = {.runs_of = runs_of}, .receive = {.runs_of = runs_of}};
  EXPECT_ERROR(nagaya_coll_run(team, &what), -EINVAL);
  what = (nagaya_collective){.kind = NAGAYA_BCAST, .root = 1};
  EXPECT_ERROR(nagaya_coll_run(team, &what), -EINVAL);
  EXPECT_ERROR(nagaya_coll_wait_close(NULL), -EINVAL);
  EXPECT_ERROR(nagaya_coll_wait_close(team), 0);
}

/* ---- outside of the job's life --------------------------------------------------------------- */

static void without_world(void) {
  nagaya_process process;
  EXPECT(nagaya_comm_size() == -ESRCH && nagaya_comm_rank() == -ESRCH);
  EXPECT(nagaya_comm_nodes() == -ESRCH && nagaya_comm_node() == -ESRCH);
  EXPECT_ERROR(nagaya_comm_process(0, &process), -ESRCH);
  EXPECT_ERROR(nagaya_comm_barrier(), -ESRCH);
  EXPECT_ERROR(nagaya_comm_allgather(&aside, 8, local), -ESRCH);
  EXPECT_ERROR(nagaya_comm_finalize(), -ESRCH);
  EXPECT_ERROR(nagaya_comm_watch_nodes(NULL), -ESRCH);
}

/* ---- nagaya_error_text() --------------------------------------------------------------------- */

#define EXPECT_TEXT(call, wanted, word)                                                            \
  do {                                                                                             \
    EXPECT_ERROR((int)(call), (wanted));                                                           \
    if (strstr(nagaya_error_text(), (word)) == NULL) {                                             \
      fprintf(stderr, "rank %d line %d: %s says \"%s\", not \"%s\"\n", (int)rank, __LINE__, #call, \
              nagaya_error_text(), (word));                                                        \
      _exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

/* On the own node the caller sees all mistakes. */
static void texts(void) {
  const nagaya_remote own = all[rank];
  nagaya_remote place = own;
  nagaya_llcl_transfer put = {own, local, sizeof memory + 8, none};
  EXPECT_TEXT(nagaya_llcl_try_write(&put), -EINVAL, "136 bytes at offset 0 exceed region");
  put.remote.region = 0;
  EXPECT_TEXT(nagaya_llcl_try_read(&put), -EINVAL, "has no region");
  put = (nagaya_llcl_transfer){own, NULL, 8, none};
  EXPECT_TEXT(nagaya_llcl_try_write(&put), -EINVAL, "local memory is NULL");
  put = (nagaya_llcl_transfer){own, local, 8, {9, NULL, NULL}};
  EXPECT_TEXT(nagaya_llcl_try_write(&put), -EINVAL, "no kind 9");
  put.on_complete = nagaya_counter((uint64_t*)((char*)local + 4));
  EXPECT_TEXT(nagaya_llcl_try_write(&put), -EINVAL, "not aligned to 8 bytes");
  put = (nagaya_llcl_transfer){of_process(12345, 0), local, 8, none};
  EXPECT_TEXT(nagaya_llcl_try_write(&put), -EINVAL, "no node 12345");
  place.offset = 4;
  nagaya_llcl_atomic add = {place, NAGAYA_ADD, NAGAYA_INT64, 1, 0, NULL, none};
  EXPECT_TEXT(nagaya_llcl_try_atomic(&add), -EINVAL, "not aligned to 8 bytes");
  add.operation = NAGAYA_AND, add.type = NAGAYA_DOUBLE;
  EXPECT_TEXT(nagaya_llcl_try_atomic(&add), -EINVAL, "operation 3 with type 5");
  nagaya_llcl_piece piece = {local, sizeof memory, 8, 1, 8, 8};
  const nagaya_llcl_pieces pieces = {own, &piece, 1, none};
  EXPECT_TEXT(nagaya_llcl_try_write_pieces(&pieces), -EINVAL, "exceed region");
  const nagaya_process self = own.process;
  EXPECT_TEXT(nagaya_llcl_try_message(self, 300, local, 8, none), -EINVAL, "not 300");
  EXPECT_TEXT(nagaya_llcl_handle(300, hear, NULL), -EINVAL, "not 300");
  EXPECT_TEXT(nagaya_comm_process(size, NULL), -EINVAL, "NULL");
  nagaya_process process;
  EXPECT_TEXT(nagaya_comm_process(-7, &process), -EINVAL, "no rank -7");
  EXPECT_ERROR(nagaya_llcl_register(&aside, 8, &place), 0);
  EXPECT_ERROR(nagaya_llcl_deregister(&place), 0);
  EXPECT_TEXT(nagaya_llcl_deregister(&place), -EINVAL, "or no more");
  put = (nagaya_llcl_transfer){place, local, 8, none};
  EXPECT_TEXT(nagaya_llcl_try_write(&put), -EINVAL, "has been deregistered");
}

/* Requests to the own node are possible in every task; other nodes are not known. */
static void before_init(void) {
  nagaya_remote own;
  EXPECT_ERROR(nagaya_llcl_register(memory, sizeof memory, &own), 0);
  neighbour = own;
  EXPECT_OF_PLACE(own, 0);
  EXPECT_OF_PLACE(of_process(1, own.process.task), -EINVAL);
  EXPECT_ERROR(message_outcome((nagaya_process){1, 0}, HANDLER, local, 8), -EINVAL);
  EXPECT_ERROR(fence_outcome(1), -EINVAL);
  EXPECT_ERROR(nagaya_llcl_deregister(&own), 0);
}

/* The others may have ended by now: any error, but an answer. */
static void after_finalize(void) {
  EXPECT(write_outcome(neighbour, local, 8) != -ETIMEDOUT);
  EXPECT(atomic_outcome(neighbour, NAGAYA_ADD, NAGAYA_INT64) != -ETIMEDOUT);
  EXPECT(message_outcome(neighbour.process, HANDLER, local, 8) != -ETIMEDOUT);
  neighbour = all[rank];
  EXPECT_OF_PLACE(neighbour, 0);
}

static void (*const mistakes[])(void) = {wrong_places,   wrong_processes,     wrong_sizes,
                                         wrong_pieces,   wrong_atomics,       wrong_completions,
                                         wrong_handlers, wrong_registrations, wrong_waits,
                                         wrong_ranks,    wrong_collectives,   texts};

int main(void) {
  EXPECT_TEXT(nagaya_comm_rank(), -ESRCH, "call nagaya_comm_init() first");
  without_world();
  before_init();
  const int error = nagaya_comm_init();
  if (error != 0) fprintf(stderr, "nagaya_comm_init: %s\n", nagaya_error_text());
  EXPECT(error == 0);
  rank = nagaya_comm_rank();
  size = nagaya_comm_size();
  nagaya_remote own;
  all = calloc((size_t)size, sizeof *all);
  EXPECT_ERROR(nagaya_llcl_register(memory, sizeof memory, &own), 0);
  EXPECT_ERROR(nagaya_llcl_handle(HANDLER, hear, NULL), 0);
  EXPECT_ERROR(nagaya_comm_allgather(&own, sizeof own, all), 0);
  neighbour = all[(rank + 1) % size];
  for (size_t n = 0; n < sizeof mistakes / sizeof *mistakes; ++n) {
    mistakes[n]();
    EXPECT_OF_PLACE(neighbour, 0);
  }
  EXPECT_ERROR(nagaya_comm_barrier(), 0);
  EXPECT_ERROR(nagaya_comm_finalize(), 0);
  EXPECT_TEXT(nagaya_comm_barrier(), -ESRCH, "nagaya_comm_init() again");
  without_world();
  after_finalize();
  return 0;
}
