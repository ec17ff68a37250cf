/* SPDX-License-Identifier: BSD-3-Clause */
/* collective_call.c - more than 500 lines: from one plan follow the buffers of each of MPI's
 * seventeen collectives, its call at once and by a request, and the data that it has to leave in
 * them. */
#include "collective_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kItemsMost = 200000, kGuard = 64, kGapMost = 3, kEdge = 4096, kMiddle = 70000 };
enum { kSaltPlan = 1, kSaltCounts, kSaltData, kSaltSend, kSaltReceive, kSaltCanary = 10 };

bool is_mild;

/* ---- messages ------------------------------------------------------------------------------ */

const char* kind_name(enum kind kind) {
  static const char* const kNames[] = {
      "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
      "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
      "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
      "scan",      "exscan"};
  return kNames[kind];
}

double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void fail(const struct call* call, const char* format, ...) {
  char text[300], data[100] = "no data";
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (call->operand != NULL)
    snprintf(data, sizeof data, "%s of %d %s", rule_name(call->operand->rule), call->total,
             call->operand->name);
  else if (call->family != NULL)
    snprintf(data, sizeof data, "%d %s", call->count * call->base_units, call->family->name);
  fprintf(stderr, "round %d, call %d: %s%s%s%s, %s, root %d, on %s, rank %d of %d: %s\n",
          call->round, call->number, call->is_blocking ? "" : "i", kind_name(call->kind),
          call->is_in_place ? " in place" : "",
          call->frees_early ? " of freed types or operation" : "", data, call->root,
          call->group.name, call->group.rank, call->group.size, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- planning ------------------------------------------------------------------------------ */

static bool is_reduction(const struct call* call) {
  return call->kind >= kReduce;
}
static bool is_w(const struct call* call) {
  return call->kind == kAlltoallw;
}

/* Each block has its own count. */
static bool is_varied(const struct call* call) {
  return call->kind == kGatherv || call->kind == kScatterv || call->kind == kAllgatherv ||
         call->kind == kAlltoallv || call->kind == kAlltoallw || call->kind == kReduceScatter;
}

static bool is_all_to_all(const struct call* call) {
  return call->kind >= kAlltoall && call->kind <= kAlltoallw;
}

/* Every rank has one block of, or for, each rank. */
static bool has_square(const struct call* call) {
  return (call->kind >= kAllgather && call->kind <= kAlltoallw) || call->kind == kReduceScatter ||
         call->kind == kReduceScatterBlock;
}

static bool may_be_in_place(enum kind kind) {
  return kind != kBarrier && kind != kBcast;
}

static int draw_count(uint64_t* random, size_t item_bytes, size_t bytes_most, int ranks) {
  const size_t edge = kEdge / (draw(random, 2) == 0 ? 1 : (size_t)ranks) / item_bytes;
  const size_t most = bytes_most / item_bytes < kItemsMost ? bytes_most / item_bytes : kItemsMost;
  size_t count = 0;
  switch (draw(random, 16)) {
    case 0:
      break;
    case 1:
    case 2:
      count = 1;
      break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
      count = draw(random, 20);
      break;
    case 8:
    case 9:
    case 10:
    case 11:
      count = edge + draw(random, 5);
      count -= count < 2 ? count : 2;
      break;
    case 12:
    case 13:
    case 14:
      count = draw(random, (uint32_t)(kMiddle / item_bytes) + 1);
      break;
    default:
      count = draw(random, (uint32_t)most + 1);
  }
  return (int)(count < most ? count : most);
}

/* Base units, or items of a reduction, that `sender` has for `receiver`. */
static int count_between(const struct call* call, int sender, int receiver) {
  if (!is_varied(call)) return call->count;
  if (call->is_in_place && sender > receiver) return count_between(call, receiver, sender);
  uint64_t random = mixed(call->seed + kSaltCounts, (uint64_t)sender << 32 | (uint64_t)receiver);
  if (call->is_in_place && is_mild) return call->count;
  if (draw(&random, 4) == 0) return 0;
  return (int)draw(&random, (uint32_t)call->count + 1);
}

static void plan_reduction(struct call* call, uint64_t* random, size_t bytes_most) {
  const int size = call->group.size;
  /* For a negative extent on one rank, Open MPI 4.1's coll/libnbc has no memory. */
  do call->operand = operand_of(draw(random, 1u << 30));
  while ((is_mild && call->operand->layout.low != 0) ||
         (size == 1 && call->operand->layout.extent < 0));
  const struct layout* const layout = &call->operand->layout;
  const int blocks = has_square(call) ? size : 1;
  call->frees_early = call->frees_early && is_of_user(call->operand);
  call->count = draw_count(random, (size_t)layout->bytes, bytes_most, size);
  if (call->count > layout->most / blocks) call->count = layout->most / blocks;
  call->total = call->count;
  if (!has_square(call)) return;
  call->total = 0;
  call->shares = malloc((size_t)size * sizeof *call->shares);
  for (int n = 0; n < size; ++n) call->total += call->shares[n] = count_between(call, 0, n);
}

void plan_call(struct call* call, size_t bytes) {
  uint64_t random = mixed(call->seed, kSaltPlan);
  const size_t size = (size_t)call->group.size;
  const size_t copies = has_square(call) ? size * size : size;
  call->root = (int)draw(&random, (uint32_t)size);
  call->is_in_place = may_be_in_place(call->kind) && draw(&random, 4) == 0;
  if (call->kind == kBarrier) return;
  call->frees_early = !call->is_blocking && draw(&random, 8) == 0;
  if (is_reduction(call)) {
    plan_reduction(call, &random, bytes / copies);
    return;
  }
  call->family = family_of(draw(&random, 1u << 30));
  const struct layout* const base =
      &call->family->layout[draw(&random, (uint32_t)call->family->count)];
  call->base_units = base->units;
  call->count = draw_count(&random, (size_t)base->bytes, bytes / copies, call->group.size);
}

/* ---- the source of each block -------------------------------------------------------------- */

/* The data of a block are those that `sender` has for `receiver` (0, if all get the same). */
struct source {
  bool has_data;
  int sender, receiver;
};

static struct source source_of(const struct call* call, const struct side* side, int block,
                               bool is_complete) {
  const int rank = call->group.rank;
  const bool is_own = block == rank;
  const bool comes = side->is_receive && is_complete;
  switch (call->kind) {
    case kBcast:
      return (struct source){!side->is_receive || is_complete, call->root, 0};
    case kScatter:
    case kScatterv:
      return (struct source){!side->is_receive || is_complete, call->root,
                             side->is_receive ? rank : block};
    case kAlltoall:
    case kAlltoallv:
    case kAlltoallw:
      return (struct source){!side->is_receive || is_complete || call->is_in_place,
                             comes ? block : rank, comes ? rank : block};
    default: /* the gathers */
      return (struct source){!side->is_receive || is_complete || (call->is_in_place && is_own),
                             side->is_receive ? block : rank, 0};
  }
}

/* How many items of the reduction a buffer has. */
static int items_of(const struct call* call, const struct side* side) {
  const bool is_share = side->is_receive && !call->is_in_place && has_square(call);
  return is_share ? call->shares[call->group.rank] : call->total;
}

static int units_of(const struct call* call, const struct side* side, int block) {
  if (is_reduction(call)) return items_of(call, side);
  const struct source source = source_of(call, side, block, true);
  return count_between(call, source.sender, source.receiver) * call->base_units;
}

/* ---- buffers ------------------------------------------------------------------------------- */

/* Any of the family that can hold such blocks; each rank and side its own. */
static const struct layout* choose_layout(const struct call* call, const struct side* side,
                                          uint64_t* random, int first, int blocks) {
  const struct family* const family = call->family;
  const bool is_first =
      is_mild && (call->kind == kGather || call->kind == kAllgatherv || call->kind == kAlltoall);
  const uint32_t begin = is_first ? 0 : draw(random, (uint32_t)family->count);
  for (uint32_t n = 0;; ++n) {
    const struct layout* const layout = &family->layout[(begin + n) % (uint32_t)family->count];
    bool is_fit = true;
    long items = 0;
    for (int block = first; block < first + blocks; ++block) {
      const int units = units_of(call, side, block);
      is_fit = is_fit && units % layout->units == 0;
      items += units / layout->units + kGapMost;
    }
    if (is_fit && items <= layout->most) return layout;
  }
}

static void choose_layouts(const struct call* call, struct side* side, uint64_t* random) {
  const struct layout* layout = is_reduction(call) ? &call->operand->layout : NULL;
  for (int n = 0; n < side->blocks; ++n) {
    if (is_w(call)) layout = choose_layout(call, side, random, n, 1);
    if (layout == NULL) layout = choose_layout(call, side, random, 0, side->blocks);
    side->layouts[n] = layout;
    side->types[n] = layout->type;
    side->counts[n] = units_of(call, side, n) / layout->units;
    if (call->frees_early && !is_reduction(call)) MPI_Type_dup(layout->type, &side->types[n]);
  }
}

static ptrdiff_t start_of(const struct call* call, const struct side* side, int block) {
  return side->places[block] * (is_w(call) ? 1 : side->layouts[block]->extent);
}

/* In any order, with gaps between them, where MPI allows that. */
static void place_blocks(const struct call* call, struct side* side, uint64_t* random) {
  ptrdiff_t cursor = 0;
  const bool is_free = is_varied(call) && !is_reduction(call) && side->blocks > 1;
  const int first = is_free ? (int)draw(random, (uint32_t)side->blocks) : 0;
  const bool is_backwards = is_free && draw(random, 2) == 0;
  for (int n = 0; n < side->blocks; ++n) {
    int block = (first + n) % side->blocks;
    if (is_backwards) block = side->blocks - 1 - block;
    const struct layout* const layout = side->layouts[block];
    const int gap = is_free ? (int)draw(random, kGapMost + 1) : 0;
    if (is_w(call)) {
      /* On one rank, Open MPI 4.1's coll/self takes these bytes for items. */
      if (call->group.size > 1) cursor = (cursor - layout->low + kGuard) / 16 * 16;
      side->places[block] = (int)cursor;
      if (side->counts[block] > 0)
        cursor += (side->counts[block] - 1) * layout->extent + layout->high;
    } else {
      side->places[block] = (int)cursor;
      cursor += side->counts[block] + gap;
    }
  }
}

static void allocate(const struct call* call, struct side* side, uint64_t* random) {
  ptrdiff_t low = 0, high = 0;
  for (int n = 0; n < side->blocks; ++n) {
    const struct layout* const layout = side->layouts[n];
    const ptrdiff_t start = start_of(call, side, n);
    if (side->counts[n] == 0) continue;
    const ptrdiff_t last = start + (side->counts[n] - 1) * layout->extent;
    const ptrdiff_t begin = (last < start ? last : start) + layout->low;
    const ptrdiff_t end = (last < start ? start : last) + layout->high;
    if (begin < low) low = begin;
    if (end > high) high = end;
  }
  const size_t before = (size_t)(kGuard - low + 15) / 16 * 16 + 16 * draw(random, 5);
  side->bytes = before + (size_t)high + kGuard;
  side->memory = malloc(side->bytes);
  side->origin = side->memory + before;
  side->at = side->origin;
}

/* Stores items 0, 1, ... of a rank's reduction, or the results if they have come. */
static void put_items(const struct call* call, const struct side* side, unsigned char* origin,
                      bool is_complete) {
  const struct operand* const operand = call->operand;
  const struct layout* const layout = &operand->layout;
  const int rank = call->group.rank, size = call->group.size;
  if (!side->is_receive || call->is_in_place)
    for (int n = 0; n < call->total; ++n) {
      const struct element own = value_of(operand, call->seed, rank, n, size);
      store(layout, &own, origin + n * layout->extent);
    }
  if (!side->is_receive || !is_complete) return;
  int first = 0, ranks = size, count = call->total;
  if (call->kind == kScan) ranks = rank + 1;
  if (call->kind == kExscan) ranks = rank;
  if (has_square(call)) {
    for (int n = 0; n < rank; ++n) first += call->shares[n];
    count = call->shares[rank];
  }
  for (int n = 0; n < count && ranks > 0; ++n) {
    struct element sum = value_of(operand, call->seed, 0, first + n, size);
    for (int k = 1; k < ranks; ++k) {
      const struct element next = value_of(operand, call->seed, k, first + n, size);
      reduce_into(operand->rule, &sum, &next);
    }
    store(layout, &sum, origin + n * layout->extent);
  }
  /* MPI leaves these undefined: rank 0's of exscan, and the items behind the own share in place. */
  const int defined = ranks > 0 ? count : 0;
  for (int n = defined; n < items_of(call, side); ++n)
    for (int k = 0; k < layout->pieces; ++k) {
      const ptrdiff_t at = n * layout->extent + layout->piece[k].offset;
      memcpy(origin + at, side->origin + at, (size_t)layout->piece[k].bytes);
    }
}

static void put_block(const struct call* call, const struct side* side, int block,
                      unsigned char* origin, bool is_complete) {
  const struct source source = source_of(call, side, block, is_complete);
  if (!source.has_data || side->counts[block] == 0) return;
  const struct layout* const layout = side->layouts[block];
  const size_t bytes = (size_t)side->counts[block] * (size_t)layout->bytes;
  unsigned char* const packed = malloc(bytes);
  const uint64_t seed =
      mixed(call->seed + kSaltData, (uint64_t)source.sender << 32 | (uint64_t)source.receiver);
  fill(seed, packed, bytes);
  spread(layout, packed, origin + start_of(call, side, block), side->counts[block]);
  free(packed);
}

/* The content of the buffer before the collective, or as it has to be after it. */
static void build(const struct call* call, const struct side* side, unsigned char* memory,
                  bool is_complete) {
  unsigned char* const origin = memory + (side->origin - side->memory);
  fill(call->seed + kSaltCanary + side->is_receive, memory, side->bytes);
  for (int n = 0; n < side->blocks; ++n)
    is_reduction(call) ? put_items(call, side, origin, is_complete)
                       : put_block(call, side, n, origin, is_complete);
}

/* How many blocks MPI looks at in this rank's call. */
static int blocks_of(const struct call* call, bool is_receive) {
  const int size = call->group.size;
  const bool is_root = call->group.rank == call->root;
  switch (call->kind) {
    case kBarrier:
      return 0;
    case kBcast:
      return is_receive != is_root;
    case kGather:
    case kGatherv:
      if (!is_receive) return !(is_root && call->is_in_place);
      return is_root ? size : 0;
    case kScatter:
    case kScatterv:
      if (is_receive) return !(is_root && call->is_in_place);
      return is_root ? size : 0;
    case kReduce:
      if (is_receive) return is_root;
      return !(is_root && call->is_in_place);
    default:
      if (!is_receive && call->is_in_place) return 0;
      return is_all_to_all(call) || (is_receive && has_square(call) && !is_reduction(call)) ? size
                                                                                            : 1;
  }
}

static void make_side(struct call* call, struct side* side, bool is_receive) {
  const uint64_t salt = is_receive ? kSaltReceive : kSaltSend;
  uint64_t random = mixed(call->seed + salt, (uint64_t)call->group.rank);
  side->is_receive = is_receive;
  side->blocks = blocks_of(call, is_receive);
  const size_t blocks = (size_t)side->blocks;
  if (blocks == 0) return;
  side->counts = malloc(blocks * sizeof *side->counts);
  side->places = malloc(blocks * sizeof *side->places);
  side->types = malloc(blocks * sizeof *side->types);
  side->layouts = malloc(blocks * sizeof *side->layouts);
  choose_layouts(call, side, &random);
  place_blocks(call, side, &random);
  allocate(call, side, &random);
  build(call, side, side->memory, false);
}

static void make_buffers(struct call* call) {
  make_side(call, &call->send, false);
  make_side(call, &call->receive, true);
  if (call->kind == kBarrier || !call->is_in_place) return;
  const bool is_scatter = call->kind == kScatter || call->kind == kScatterv;
  if (is_scatter && call->receive.blocks == 0) call->receive.at = MPI_IN_PLACE;
  if (!is_scatter && call->send.blocks == 0) call->send.at = MPI_IN_PLACE;
}

/* ---- calls --------------------------------------------------------------------------------- */

static int count_of(const struct side* side) {
  return side->blocks == 0 ? 0 : side->counts[0];
}
static MPI_Datatype type_of(const struct side* side) {
  return side->blocks == 0 ? MPI_DATATYPE_NULL : side->types[0];
}

/* The side of a bcast's buffer at this rank. */
static const struct side* only_side(const struct call* call) {
  return call->send.blocks != 0 ? &call->send : &call->receive;
}

static void run_moving(const struct call* c, MPI_Comm comm) {
  const struct side *s = &c->send, *r = &c->receive, *b = only_side(c);
  const int sn = count_of(s), rn = count_of(r), root = c->root;
  const MPI_Datatype st = type_of(s), rt = type_of(r);
  switch (c->kind) {
    case kBarrier:
      MPI_Barrier(comm);
      break;
    case kBcast:
      MPI_Bcast(b->at, count_of(b), type_of(b), root, comm);
      break;
    case kGather:
      MPI_Gather(s->at, sn, st, r->at, rn, rt, root, comm);
      break;
    case kGatherv:
      MPI_Gatherv(s->at, sn, st, r->at, r->counts, r->places, rt, root, comm);
      break;
    case kScatter:
      MPI_Scatter(s->at, sn, st, r->at, rn, rt, root, comm);
      break;
    case kScatterv:
      MPI_Scatterv(s->at, s->counts, s->places, st, r->at, rn, rt, root, comm);
      break;
    case kAllgather:
      MPI_Allgather(s->at, sn, st, r->at, rn, rt, comm);
      break;
    case kAllgatherv:
      MPI_Allgatherv(s->at, sn, st, r->at, r->counts, r->places, rt, comm);
      break;
    case kAlltoall:
      MPI_Alltoall(s->at, sn, st, r->at, rn, rt, comm);
      break;
    case kAlltoallv:
      MPI_Alltoallv(s->at, s->counts, s->places, st, r->at, r->counts, r->places, rt, comm);
      break;
    default:
      MPI_Alltoallw(s->at, s->counts, s->places, s->types, r->at, r->counts, r->places, r->types,
                    comm);
  }
}

static void start_moving(const struct call* c, MPI_Comm comm, MPI_Request* q) {
  const struct side *s = &c->send, *r = &c->receive, *b = only_side(c);
  const int sn = count_of(s), rn = count_of(r), root = c->root;
  const MPI_Datatype st = type_of(s), rt = type_of(r);
  switch (c->kind) {
    case kBarrier:
      MPI_Ibarrier(comm, q);
      break;
    case kBcast:
      MPI_Ibcast(b->at, count_of(b), type_of(b), root, comm, q);
      break;
    case kGather:
      MPI_Igather(s->at, sn, st, r->at, rn, rt, root, comm, q);
      break;
    case kGatherv:
      MPI_Igatherv(s->at, sn, st, r->at, r->counts, r->places, rt, root, comm, q);
      break;
    case kScatter:
      MPI_Iscatter(s->at, sn, st, r->at, rn, rt, root, comm, q);
      break;
    case kScatterv:
      MPI_Iscatterv(s->at, s->counts, s->places, st, r->at, rn, rt, root, comm, q);
      break;
    case kAllgather:
      MPI_Iallgather(s->at, sn, st, r->at, rn, rt, comm, q);
      break;
    case kAllgatherv:
      MPI_Iallgatherv(s->at, sn, st, r->at, r->counts, r->places, rt, comm, q);
      break;
    case kAlltoall:
      MPI_Ialltoall(s->at, sn, st, r->at, rn, rt, comm, q);
      break;
    case kAlltoallv:
      MPI_Ialltoallv(s->at, s->counts, s->places, st, r->at, r->counts, r->places, rt, comm, q);
      break;
    default:
      MPI_Ialltoallw(s->at, s->counts, s->places, s->types, r->at, r->counts, r->places, r->types,
                     comm, q);
  }
}

static void run_reduction(const struct call* c, MPI_Comm comm) {
  void *const from = c->send.at, *const to = c->receive.at;
  const MPI_Datatype type = c->operand->layout.type;
  const MPI_Op op = c->op;
  switch (c->kind) {
    case kReduce:
      MPI_Reduce(from, to, c->total, type, op, c->root, comm);
      break;
    case kAllreduce:
      MPI_Allreduce(from, to, c->total, type, op, comm);
      break;
    case kReduceScatter:
      MPI_Reduce_scatter(from, to, c->shares, type, op, comm);
      break;
    case kReduceScatterBlock:
      MPI_Reduce_scatter_block(from, to, c->count, type, op, comm);
      break;
    case kScan:
      MPI_Scan(from, to, c->total, type, op, comm);
      break;
    default:
      MPI_Exscan(from, to, c->total, type, op, comm);
  }
}

static void start_reduction(const struct call* c, MPI_Comm comm, MPI_Request* request) {
  void *const from = c->send.at, *const to = c->receive.at;
  const MPI_Datatype type = c->operand->layout.type;
  const MPI_Op op = c->op;
  switch (c->kind) {
    case kReduce:
      MPI_Ireduce(from, to, c->total, type, op, c->root, comm, request);
      break;
    case kAllreduce:
      MPI_Iallreduce(from, to, c->total, type, op, comm, request);
      break;
    case kReduceScatter:
      MPI_Ireduce_scatter(from, to, c->shares, type, op, comm, request);
      break;
    case kReduceScatterBlock:
      MPI_Ireduce_scatter_block(from, to, c->count, type, op, comm, request);
      break;
    case kScan:
      MPI_Iscan(from, to, c->total, type, op, comm, request);
      break;
    default:
      MPI_Iexscan(from, to, c->total, type, op, comm, request);
  }
}

/* MPI may still look at the array: it must not change before the completion. */
static void free_types(const struct side* side) {
  for (int n = 0; n < side->blocks; ++n) {
    MPI_Datatype type = side->types[n];
    MPI_Type_free(&type);
  }
}

/* A collective under way keeps its types and its operation. */
static void free_early(struct call* call) {
  if (is_reduction(call)) {
    MPI_Op_free(&call->op);
  } else {
    free_types(&call->send);
    free_types(&call->receive);
  }
}

void start_call(struct call* call, MPI_Request* request) {
  make_buffers(call);
  if (is_reduction(call)) call->op = call->frees_early ? copy_op(call->operand) : call->operand->op;
  *request = MPI_REQUEST_NULL;
  call->entered_s = now_s();
  if (call->is_blocking)
    is_reduction(call) ? run_reduction(call, call->group.comm) : run_moving(call, call->group.comm);
  else if (is_reduction(call))
    start_reduction(call, call->group.comm, request);
  else
    start_moving(call, call->group.comm, request);
  if (call->frees_early) free_early(call);
}

/* ---- checks -------------------------------------------------------------------------------- */

static void report(const struct call* call, const struct side* side,
                   const unsigned char* expected) {
  size_t first = 0, wrong = 0;
  while (side->memory[first] == expected[first]) ++first;
  for (size_t n = first; n < side->bytes; ++n) wrong += side->memory[n] != expected[n];
  const ptrdiff_t at = (ptrdiff_t)first - (side->origin - side->memory);
  fail(call, "%s buffer of %d items of %d in %td bytes: byte %td is 0x%02x, not 0x%02x; %zu wrong",
       side->is_receive ? "receive" : "send", side->counts[0], side->layouts[0]->bytes,
       side->layouts[0]->extent, at, side->memory[first], expected[first], wrong);
}

/* The buffer is the program's again: nobody may read it any more. */
static void check_and_free(const struct call* call, struct side* side) {
  if (side->blocks == 0) return;
  unsigned char* const expected = malloc(side->bytes);
  build(call, side, expected, true);
  if (memcmp(side->memory, expected, side->bytes) != 0) report(call, side, expected);
  memset(side->memory, 0x5a, side->bytes);
  free(expected);
  free(side->memory);
  free(side->counts);
  free(side->places);
  free(side->types);
  free(side->layouts);
  *side = (struct side){.blocks = 0};
}

void finish_call(struct call* call) {
  call->left_s = now_s();
  check_and_free(call, &call->send);
  check_and_free(call, &call->receive);
  free(call->shares);
  call->shares = NULL;
}
