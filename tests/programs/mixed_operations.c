/* SPDX-License-Identifier: BSD-3-Clause */
/* mixed_operations.c NAME=VALUE... - every kind of request, at random, from all threads of all
 * processes of a job to all of them. In the end each process knows what its memory must hold.
 *
 *   memory of a process   | words | notified | fixed | parts |
 *
 * A writer is a thread of a process; each has one of the words notified, and one of the parts. It
 * alone writes its part, in every process, and keeps a copy of it, from which it writes and by
 * which it checks what it reads; of its requests that overlap only reads are under way together.
 * `fixed` holds values that everybody can compute. To the words everybody applies atomics whose
 * result does not depend on their order. Messages carry running numbers.
 *
 * Settings (below) are numbers, but for results=FOLDER: output goes to a file named by the rank
 * there. Says "started"; "operations done", with what it did; "verified". Exit code 3: other nodes
 * were lost, which faults=1 permits, and all else was as promised.
 *
 * Long, for every kind of request is made, checked and undone by the same books. */
#include <errno.h>
#include <nagaya/comm.h>
#include <nagaya/task.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  PART_BYTES = 512 << 10,
  FIXED_BYTES = 512 << 10,
  NOISE_BYTES = 1 << 20,
  SMALL_MAX = 4096,
  LARGE_MAX = 420000, /* so that 10^7 operations make 20 GB */
  LARGE_PER_MILLE = 10,
  WINDOW = 32, /* requests of a thread under way */
  BLOCKS_MAX = 16,
  HEAR = 3,
  HEAR_EMPTY = 4,
  LIMIT_MS = 20000, /* nothing may take so long, whatever happens */
  LOST = 3
};

#define EXPECT(condition)                         \
  do {                                            \
    if (!(condition)) fail(__LINE__, #condition); \
  } while (0)

/* ---- settings -------------------------------------------------------------------------------- */

static uint64_t operations = 10000; /* of each thread */
static uint64_t seconds;            /* end after so many; 0: only after the operations */
static uint64_t seed = 1;
static uint64_t thread_count = 2;
static uint64_t faults;              /* 1: other nodes may be lost */
static uint64_t spared = UINT64_MAX; /* the rank that gets no messages: it will not take them */

static const struct {
  const char* name;
  uint64_t* value;
} settings[] = {{"operations", &operations}, {"seconds", &seconds}, {"seed", &seed},
                {"threads", &thread_count},  {"faults", &faults},   {"spared", &spared}};

static int rank, size;

static const char* results;

/* Among the results too: a link that is cut takes standard error with it. */
_Noreturn static void fail(int line, const char* what) {
  FILE* const both[] = {stderr, stdout};
  for (int n = 0; n < 2; ++n)
    fprintf(both[n], "rank %d seed %llu line %d: %s\n", rank, (unsigned long long)seed, line, what);
  _exit(1);
}

static bool set(const char* word) {
  if (strncmp(word, "results=", 8) == 0) return (results = word + 8) != NULL;
  for (size_t n = 0; n < sizeof settings / sizeof *settings; ++n) {
    const size_t length = strlen(settings[n].name);
    if (strncmp(word, settings[n].name, length) != 0 || word[length] != '=') continue;
    *settings[n].value = strtoull(word + length + 1, NULL, 10);
    return true;
  }
  return false;
}

/* ---- the memory ------------------------------------------------------------------------------ */

/* Every kind of atomic has a word, 8 bytes apart. `combine`: of what was done to the word, in any
 * order. */
typedef enum { SUM, XOR, OR, AND, LEAST, MOST } combination;
static const struct {
  nagaya_operation operation;
  nagaya_type type;
  combination combine;
} words[] = {
    {NAGAYA_ADD, NAGAYA_UINT64, SUM},
    {NAGAYA_ADD, NAGAYA_INT32, SUM},
    {NAGAYA_ADD, NAGAYA_DOUBLE, SUM},
    {NAGAYA_ADD, NAGAYA_FLOAT, SUM},
    {NAGAYA_XOR, NAGAYA_INT64, XOR},
    {NAGAYA_OR, NAGAYA_UINT32, OR},
    {NAGAYA_AND, NAGAYA_UINT64, AND},
    {NAGAYA_MIN, NAGAYA_INT64, LEAST},
    {NAGAYA_MAX, NAGAYA_UINT32, MOST},
    {NAGAYA_SWAP, NAGAYA_UINT64, XOR},        /* of new and old */
    {NAGAYA_COMPARE_SWAP, NAGAYA_UINT32, SUM} /* of those that found what they expected */
};
enum { WORDS = sizeof words / sizeof *words };

static nagaya_remote* places; /* of every process's memory, and the processes themselves */
static unsigned char* memory;
static unsigned char* noise;

static uint64_t writers(void) {
  return (uint64_t)size * thread_count;
}
static uint64_t notified_at(uint64_t writer) {
  return 8 * (WORDS + writer);
}
static uint64_t fixed_at(void) {
  return (notified_at(writers()) + 63) / 64 * 64;
}
static uint64_t part_at(uint64_t writer) {
  return fixed_at() + FIXED_BYTES + writer * PART_BYTES;
}

static nagaya_remote place_of(int target, uint64_t offset) {
  nagaya_remote place = places[target];
  place.offset += offset;
  return place;
}

static uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

/* Bytes that depend on `number`. At most LARGE_MAX, or the fixed ones. */
static const unsigned char* noise_of(uint64_t number) {
  return noise + mixed(number) % (NOISE_BYTES - FIXED_BYTES);
}

/* ---- a writer -------------------------------------------------------------------------------- */

typedef struct {
  bool is_used;
  uint64_t order; /* among the requests of this thread */
  int target;
  bool is_write;
  uint64_t begin, end; /* in the part */
  unsigned char* got;  /* the data read, or sent */
  const unsigned char* wanted;
  int word; /* of an atomic, or -1 */
  uint64_t operand, expected, before;
  nagaya_llcl_piece piece;
  uint32_t kind; /* of the completion */
  uint32_t flag, calls;
  uint64_t counter;
} request;

/* The traces of its requests in a process. */
typedef struct {
  uint64_t words[WORDS];
  uint64_t sent, sent_empty, notified, checksum;
} trace;

typedef struct {
  uint64_t number, random;
  uint64_t started, completed, errors, bytes;
  unsigned char** copies; /* of its part, by process */
  uint64_t* last_seen;    /* of the word to compare and swap, by process */
  trace* traces;          /* by process */
  request requests[WINDOW];
} writer;

static uint64_t random_below(writer* self, uint64_t limit) {
  self->random += 0x9e3779b97f4a7c15;
  return mixed(self->random) % limit;
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t combined(combination how, uint64_t one, uint64_t other) {
  switch (how) {
    case SUM:
      return one + other;
    case XOR:
      return one ^ other;
    case OR:
      return one | other;
    case AND:
      return one & other;
    case LEAST:
      return (int64_t)one < (int64_t)other ? one : other;
    case MOST:
      return one < other ? other : one;
  }
  return 0;
}

/* ---- completions: each exactly once ---------------------------------------------------------- */

enum { TAKEN = 0x7fffffff };

static void called(void* data, int error) {
  request* const done = data;
  __atomic_fetch_add(&done->calls, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&done->flag, error == 0 ? 1 : (uint32_t)error, __ATOMIC_RELEASE);
}

/* Nothing has come since the completion of the last request that had this place. */
static void expect_no_second_completion(const request* last) {
  if (last->kind == NAGAYA_NONE) return;
  EXPECT(__atomic_load_n(&last->flag, __ATOMIC_ACQUIRE) == TAKEN);
  EXPECT(__atomic_load_n(&last->counter, __ATOMIC_ACQUIRE) == TAKEN);
  EXPECT(__atomic_load_n(&last->calls, __ATOMIC_ACQUIRE) == (last->kind == NAGAYA_CALLBACK));
}

static nagaya_completion completion_of(writer* self, request* new) {
  expect_no_second_completion(new);
  new->kind = NAGAYA_FLAG + (uint32_t)random_below(self, 3);
  new->flag = new->calls = 0;
  new->counter = 0;
  if (new->kind == NAGAYA_FLAG) return nagaya_flag(&new->flag);
  if (new->kind == NAGAYA_COUNTER) return nagaya_counter(&new->counter);
  return nagaya_callback(called, new);
}

static bool is_done(const request* what) {
  return what->kind == NAGAYA_COUNTER ? __atomic_load_n(&what->counter, __ATOMIC_ACQUIRE) != 0
                                      : __atomic_load_n(&what->flag, __ATOMIC_ACQUIRE) != 0;
}

static int await(const request* what) {
  const int error = what->kind == NAGAYA_COUNTER
                        ? nagaya_llcl_wait_counter(&what->counter, 1, LIMIT_MS)
                        : nagaya_llcl_wait_flag(&what->flag, LIMIT_MS);
  EXPECT(error != -ETIMEDOUT);
  return error;
}

static void expect_possible(int error) {
  const bool is_loss = error == -ECONNRESET || error == -EHOSTUNREACH || error == -EIO ||
                       error == -EINVAL || error == -ESRCH;
  if (error != 0 && !(faults && is_loss)) fail(__LINE__, strerror(-error));
}

static void check_blocks(const request* read) {
  const nagaya_llcl_piece* const piece = &read->piece;
  const uint64_t stride = (uint64_t)llabs(piece->local_stride);
  for (uint64_t at = 0; at < read->end - read->begin;) {
    EXPECT(memcmp(read->got + at, read->wanted + at, piece->block_bytes) == 0);
    at += piece->block_bytes;
    for (; at % stride != 0 && at < read->end - read->begin; ++at) EXPECT(read->got[at] == 0xee);
  }
}

static void note_atomic(writer* self, const request* done) {
  uint64_t* const so_far = &self->traces[done->target].words[done->word];
  uint64_t what = done->operand;
  if (words[done->word].operation == NAGAYA_SWAP) what ^= done->before;
  if (words[done->word].operation == NAGAYA_COMPARE_SWAP) {
    what = done->before == done->expected;
    self->last_seen[done->target] = done->before + what;
  }
  *so_far = combined(words[done->word].combine, *so_far, what);
}

static void settle(writer* self, request* done) {
  const int error = await(done);
  expect_possible(error);
  ++self->completed;
  self->errors += error != 0;
  if (error == 0 && done->wanted != NULL && done->piece.count != 0)
    check_blocks(done);
  else if (error == 0 && done->wanted != NULL)
    EXPECT(memcmp(done->got, done->wanted, done->end - done->begin) == 0);
  if (error == 0 && done->word >= 0) note_atomic(self, done);
  free(done->got);
  EXPECT(done->kind != NAGAYA_COUNTER || (done->counter & ~NAGAYA_COUNTER_FAILED) == 1);
  done->flag = TAKEN;
  done->counter = TAKEN;
  done->is_used = false;
}

/* ---- making requests ------------------------------------------------------------------------- */

static request* new_request(writer* self, int target) {
  request* const place = &self->requests[random_below(self, WINDOW)];
  if (place->is_used) settle(self, place);
  place->target = target;
  place->order = self->started;
  place->is_write = false;
  place->got = NULL;
  place->wanted = NULL;
  place->begin = place->end = 0;
  place->word = -1;
  place->piece.count = 0;
  return place;
}

/* Settles what overlaps, unless both only read. */
static void claim_range(writer* self, request* new, uint64_t begin, uint64_t end, bool is_write) {
  for (request* other = self->requests; other != self->requests + WINDOW; ++other)
    if (other->is_used && other->target == new->target && other->begin < end&& begin < other->end &&
        (is_write || other->is_write))
      settle(self, other);
  new->begin = begin;
  new->end = end;
  new->is_write = is_write;
}

/* Whether to call again; otherwise the request is under way, or will never be. */
static bool is_refused(writer* self, request* new, int error, uint64_t since_ms) {
  if (error == -EAGAIN) {
    EXPECT(now_ms() - since_ms < LIMIT_MS);
    sched_yield();
    return true;
  }
  expect_possible(error);
  if (error == 0) {
    ++self->started;
    new->is_used = true;
    return false;
  }
  ++self->errors;
  free(new->got);
  new->kind = NAGAYA_NONE;
  return false;
}
#define START(call)                                           \
  do {                                                        \
    const uint64_t since_ms = now_ms();                       \
    while (is_refused(self, new, (call), since_ms)) continue; \
  } while (0)

static uint64_t random_bytes(writer* self) {
  if (random_below(self, 1000) < LARGE_PER_MILLE)
    return SMALL_MAX + 1 + random_below(self, LARGE_MAX - SMALL_MAX);
  const uint64_t most = 1ull << random_below(self, 13); /* as many of each magnitude */
  return random_below(self, most + 1);
}

static void try_write(writer* self, request* new, bool notifies) {
  const uint64_t bytes = random_bytes(self), begin = random_below(self, PART_BYTES - bytes + 1);
  unsigned char* const copy = self->copies[new->target] + begin;
  claim_range(self, new, begin, begin + bytes, true);
  memcpy(copy, noise_of(self->random), bytes);
  const nagaya_llcl_transfer put = {place_of(new->target, part_at(self->number) + begin), copy,
                                    bytes, completion_of(self, new)};
  const nagaya_remote counter = place_of(new->target, notified_at(self->number));
  self->bytes += bytes;
  self->traces[new->target].notified += notifies;
  START(notifies ? nagaya_llcl_try_write_notify(&put, &counter) : nagaya_llcl_try_write(&put));
}

static void write_some(writer* self, request* new) {
  try_write(self, new, false);
}
static void write_and_notify(writer* self, request* new) {
  try_write(self, new, true);
}

static void read_some(writer* self, request* new) {
  const bool is_fixed = random_below(self, 2);
  const uint64_t bytes = random_bytes(self), begin = random_below(self, PART_BYTES - bytes + 1);
  new->got = malloc(bytes + 1);
  if (is_fixed) {
    new->end = bytes;
    new->wanted = noise_of((uint64_t) new->target) + begin;
  } else {
    claim_range(self, new, begin, begin + bytes, false);
    new->wanted = self->copies[new->target] + begin;
  }
  const uint64_t from = is_fixed ? fixed_at() : part_at(self->number);
  const nagaya_llcl_transfer get = {place_of(new->target, from + begin), new->got, bytes,
                                    completion_of(self, new)};
  self->bytes += bytes;
  START(nagaya_llcl_try_read(&get));
}

/* Blocks with gaps, the first or the last first. The range that they lie in begins at `begin`. */
static nagaya_llcl_pieces choose_pieces(writer* self, request* new, uint64_t* begin,
                                        bool is_write) {
  nagaya_llcl_piece* const piece = &new->piece;
  piece->count = 1 + random_below(self, BLOCKS_MAX);
  piece->block_bytes = 1 + random_bytes(self) / piece->count;
  piece->local_stride = (int64_t)(piece->block_bytes + random_below(self, 100));
  const uint64_t range = (piece->count - 1) * (uint64_t)piece->local_stride + piece->block_bytes;
  *begin = random_below(self, PART_BYTES - range + 1);
  claim_range(self, new, *begin, *begin + range, is_write);
  piece->offset = 0;
  if (random_below(self, 2)) {
    piece->offset = range - piece->block_bytes;
    piece->local_stride = -piece->local_stride;
  }
  piece->remote_stride = piece->local_stride;
  self->bytes += piece->count * piece->block_bytes;
  const nagaya_llcl_pieces pieces = {place_of(new->target, part_at(self->number) + *begin), piece,
                                     1, completion_of(self, new)};
  return pieces;
}

static void write_pieces(writer* self, request* new) {
  uint64_t begin;
  const nagaya_llcl_pieces pieces = choose_pieces(self, new, &begin, true);
  unsigned char* block = self->copies[new->target] + begin + new->piece.offset;
  new->piece.local = block;
  for (uint64_t n = 0; n < new->piece.count; ++n, block += new->piece.local_stride)
    memcpy(block, noise_of(self->random + n), new->piece.block_bytes);
  START(nagaya_llcl_try_write_pieces(&pieces));
}

static void read_pieces(writer* self, request* new) {
  uint64_t begin;
  const nagaya_llcl_pieces pieces = choose_pieces(self, new, &begin, false);
  new->wanted = self->copies[new->target] + begin;
  new->got = malloc(new->end - new->begin);
  memset(new->got, 0xee, new->end - new->begin);
  new->piece.local = new->got + new->piece.offset;
  START(nagaya_llcl_try_read_pieces(&pieces));
}

/* The operand as the word's type has it. */
static uint64_t bits_of(nagaya_type type, uint64_t value) {
  const double wide = (double)value;
  const float narrow = (float)value;
  uint64_t bits = value;
  if (type == NAGAYA_DOUBLE) memcpy(&bits, &wide, sizeof wide);
  if (type == NAGAYA_FLOAT) memcpy(&bits, &narrow, sizeof narrow), bits &= UINT32_MAX;
  return bits;
}

static void apply_atomic(writer* self, request* new) {
  new->word = (int)random_below(self, WORDS);
  const nagaya_operation operation = words[new->word].operation;
  const nagaya_type type = words[new->word].type;
  new->before = 0;
  new->operand = operation == NAGAYA_ADD   ? 1 + random_below(self, 3)
                 : operation == NAGAYA_MAX ? random_below(self, UINT32_MAX)
                 : operation == NAGAYA_OR  ? 1u << random_below(self, 32)
                 : operation == NAGAYA_AND ? ~(1ull << random_below(self, 64))
                                           : mixed(self->random);
  if (operation == NAGAYA_COMPARE_SWAP) {
    new->expected = self->last_seen[new->target];
    new->operand = new->expected + 1;
  }
  const bool wants_before =
      operation == NAGAYA_SWAP || operation == NAGAYA_COMPARE_SWAP || random_below(self, 2);
  const nagaya_llcl_atomic what = {place_of(new->target, 8 * (uint64_t) new->word),
                                   operation,
                                   type,
                                   bits_of(type, new->operand),
                                   new->expected,
                                   wants_before ? &new->before : NULL,
                                   completion_of(self, new)};
  self->bytes += 8;
  START(nagaya_llcl_try_atomic(&what));
}

/* Done when all earlier requests of this thread to that node are. */
static void fence(writer* self, request* new) {
  const nagaya_completion on_complete = completion_of(self, new);
  START(nagaya_llcl_try_fence(places[new->target].process.node, on_complete));
  if (!new->is_used) return;
  await(new);
  for (const request* other = self->requests; other != self->requests + WINDOW; ++other)
    if (other->is_used && other->order < new->order &&
        other->kind != NAGAYA_CALLBACK&& places[other->target].process.node ==
            places[new->target].process.node)
      EXPECT(is_done(other));
  settle(self, new);
}

/* ---- messages -------------------------------------------------------------------------------- */

typedef struct {
  uint64_t writer, number;
} heading;

static uint64_t* heard; /* by writer */
static uint64_t heard_empty;

static void hear(void* context, nagaya_process source, const void* data, size_t bytes) {
  heading top;
  EXPECT(context == &heard && bytes >= sizeof top);
  memcpy(&top, data, sizeof top);
  EXPECT(top.writer < writers() && top.number == heard[top.writer]);
  const nagaya_process sender = places[top.writer / thread_count].process;
  EXPECT(source.node == sender.node && source.task == sender.task);
  EXPECT(memcmp((const unsigned char*)data + sizeof top, noise_of(top.writer << 40 | top.number),
                bytes - sizeof top) == 0);
  __atomic_store_n(&heard[top.writer], top.number + 1, __ATOMIC_RELEASE);
}

static void hear_empty(void* context, nagaya_process source, const void* data, size_t bytes) {
  EXPECT(context == NULL && bytes == 0 && source.task < (uint32_t)size);
  (void)data;
  __atomic_fetch_add(&heard_empty, 1, __ATOMIC_RELEASE);
}

static void send_message(writer* self, request* new) {
  if ((uint64_t) new->target == spared) return;
  const nagaya_process to = places[new->target].process;
  const nagaya_completion on_complete = completion_of(self, new);
  trace* const leaves = &self->traces[new->target];
  if (random_below(self, 20) == 0) {
    ++leaves->sent_empty;
    START(nagaya_llcl_try_message(to, HEAR_EMPTY, NULL, 0, on_complete));
    return;
  }
  const heading top = {self->number, leaves->sent++};
  const uint64_t bytes = random_bytes(self);
  new->got = malloc(sizeof top + bytes);
  memcpy(new->got, &top, sizeof top);
  memcpy(new->got + sizeof top, noise_of(top.writer << 40 | top.number), bytes);
  self->bytes += sizeof top + bytes;
  START(nagaya_llcl_try_message(to, HEAR, new->got, sizeof top + bytes, on_complete));
}

/* ---- the mix --------------------------------------------------------------------------------- */

static const struct {
  uint64_t per_mille;
  void (*make)(writer* self, request* new);
} kinds[] = {{300, read_some},   {250, write_some},   {100, write_and_notify}, {60, read_pieces},
             {60, write_pieces}, {150, apply_atomic}, {75, send_message},      {5, fence}};

static void* work(void* data) {
  writer* const self = data;
  const uint64_t end_ms = seconds == 0 ? UINT64_MAX : now_ms() + seconds * 1000;
  for (uint64_t n = 0; n < operations && now_ms() < end_ms; ++n) {
    request* const new = new_request(self, (int)random_below(self, (uint64_t)size));
    uint64_t chosen = random_below(self, 1000), kind = 0;
    while (chosen >= kinds[kind].per_mille) chosen -= kinds[kind++].per_mille;
    kinds[kind].make(self, new);
  }
  for (request* left = self->requests; left != self->requests + WINDOW; ++left)
    if (left->is_used) settle(self, left);
  EXPECT(self->completed == self->started);
  return NULL;
}

static writer* new_writer(uint64_t thread) {
  writer* const self = calloc(1, sizeof *self);
  self->number = (uint64_t)rank * thread_count + thread;
  self->random = mixed(seed) + mixed(self->number + 1);
  self->copies = calloc((size_t)size, sizeof *self->copies);
  self->last_seen = calloc((size_t)size, sizeof *self->last_seen);
  self->traces = calloc((size_t)size, sizeof *self->traces);
  for (int target = 0; target < size; ++target) {
    self->copies[target] = calloc(1, PART_BYTES);
    for (int word = 0; word < WORDS; ++word)
      if (words[word].combine == AND) self->traces[target].words[word] = UINT64_MAX;
  }
  return self;
}

static uint64_t checksum_of(const unsigned char* part) {
  uint64_t sum = 0, word;
  for (size_t at = 0; at < PART_BYTES; at += sizeof word) {
    memcpy(&word, part + at, sizeof word);
    sum = mixed(sum ^ word);
  }
  return sum;
}

/* ---- the wanted end -------------------------------------------------------------------------- */

static uint64_t final_value(int word) {
  uint64_t bits;
  double wide;
  float narrow;
  memcpy(&bits, memory + 8 * word, sizeof bits);
  memcpy(&wide, &bits, sizeof wide);
  memcpy(&narrow, &bits, sizeof narrow);
  if (words[word].type == NAGAYA_DOUBLE) return (uint64_t)wide;
  if (words[word].type == NAGAYA_FLOAT) return (uint64_t)narrow;
  return bits;
}

static void await_heard(const uint64_t* count, uint64_t wanted) {
  const uint64_t since_ms = now_ms();
  while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < wanted && now_ms() - since_ms < LIMIT_MS)
    sched_yield();
  EXPECT(__atomic_load_n(count, __ATOMIC_ACQUIRE) == wanted);
}

/* `all`: traces by writer, then by process. */
static void verify(const trace* all) {
  uint64_t empty = 0;
  for (uint64_t from = 0; from < writers(); ++from) {
    const trace* const one = &all[from * (uint64_t)size + (uint64_t)rank];
    uint64_t notified;
    memcpy(&notified, memory + notified_at(from), sizeof notified);
    EXPECT(notified == one->notified);
    EXPECT(checksum_of(memory + part_at(from)) == one->checksum);
    await_heard(&heard[from], one->sent);
    empty += one->sent_empty;
  }
  await_heard(&heard_empty, empty);
  for (int word = 0; word < WORDS; ++word) {
    uint64_t wanted = words[word].combine == AND ? UINT64_MAX : 0;
    for (uint64_t from = 0; from < writers(); ++from)
      wanted = combined(words[word].combine, wanted,
                        all[from * (uint64_t)size + (uint64_t)rank].words[word]);
    EXPECT(final_value(word) == wanted);
  }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void prepare(void) {
  noise = malloc(NOISE_BYTES);
  for (size_t at = 0; at < NOISE_BYTES; ++at) noise[at] = (unsigned char)mixed(at);
  const size_t bytes = part_at(writers());
  memory = calloc(1, bytes);
  for (int word = 0; word < WORDS; ++word)
    if (words[word].combine == AND) memset(memory + 8 * word, 0xff, 8);
  memcpy(memory + fixed_at(), noise_of((uint64_t)rank), FIXED_BYTES);
  heard = calloc(writers(), sizeof *heard);
  places = calloc((size_t)size, sizeof *places);
  nagaya_remote own;
  EXPECT(nagaya_llcl_register(memory, bytes, &own) == 0);
  EXPECT(nagaya_comm_allgather(&own, sizeof own, places) == 0);
  EXPECT(nagaya_llcl_handle(HEAR, hear, &heard) == 0);
  EXPECT(nagaya_llcl_handle(HEAR_EMPTY, hear_empty, NULL) == 0);
  EXPECT(nagaya_comm_barrier() == 0);
}

static uint64_t operate(writer** own, trace* traces) {
  pthread_t threads[thread_count];
  for (uint64_t n = 0; n < thread_count; ++n) own[n] = new_writer(n);
  for (uint64_t n = 0; n < thread_count; ++n)
    EXPECT(pthread_create(&threads[n], NULL, work, own[n]) == 0);
  uint64_t started = 0, errors = 0, bytes = 0;
  for (uint64_t n = 0; n < thread_count; ++n) {
    pthread_join(threads[n], NULL);
    started += own[n]->started;
    errors += own[n]->errors;
    bytes += own[n]->bytes;
    for (int target = 0; target < size; ++target) {
      own[n]->traces[target].checksum = checksum_of(own[n]->copies[target]);
      traces[n * (uint64_t)size + (uint64_t)target] = own[n]->traces[target];
    }
  }
  printf("operations done: %llu accepted, all completed, %llu errors, %llu bytes\n",
         (unsigned long long)started, (unsigned long long)errors, (unsigned long long)bytes);
  return errors;
}

/* In the folder of results; without a name that of the rank. */
static const char* result_file(const char* name) {
  static char path[4096];
  char number[16];
  snprintf(number, sizeof number, "%d", rank);
  snprintf(path, sizeof path, "%s/%s", results, name != NULL ? name : number);
  return path;
}

static void await_end(void) {
  while (results != NULL && access(result_file("end"), F_OK) != 0) usleep(50000);
}

int main(int argc, char** argv) {
  for (int n = 1; n < argc; ++n) EXPECT(set(argv[n]));
  const int error = nagaya_comm_init();
  if (error != 0) fprintf(stderr, "nagaya_comm_init: %s\n", nagaya_error_text());
  EXPECT(error == 0);
  rank = (int)nagaya_comm_rank();
  size = (int)nagaya_comm_size();
  if (results != NULL) EXPECT(freopen(result_file(NULL), "w", stdout) != NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  prepare();
  printf("started\n");

  writer* own[thread_count];
  const size_t bytes = thread_count * (size_t)size * sizeof(trace);
  trace* const traces = calloc(1, bytes);
  trace* const all = calloc((size_t)size, bytes);
  uint64_t errors = operate(own, traces);
  uint64_t* const all_errors = calloc((size_t)size, sizeof errors);
  bool is_lost = nagaya_comm_barrier() != 0 ||
                 nagaya_comm_allgather(&errors, sizeof errors, all_errors) != 0 ||
                 nagaya_comm_allgather(traces, bytes, all) != 0;
  for (int n = 0; n < size; ++n) is_lost |= all_errors[n] != 0;
  for (uint64_t n = 0; n < thread_count; ++n)
    for (int place = 0; place < WINDOW; ++place)
      expect_no_second_completion(&own[n]->requests[place]);
  EXPECT(!is_lost || faults);
  if (is_lost) {
    printf("lost\n");
    await_end();
    _exit(LOST);
  }
  verify(all);
  printf("verified\n");
  await_end();
  EXPECT(nagaya_comm_finalize() == 0);
  return 0;
}
