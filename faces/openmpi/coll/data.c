/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll_nagaya.h"

/* ---- one block ----------------------------------------------------------------------------- */

typedef struct block_t {
  char* buffer;
  size_t count;
  ompi_datatype_t* type;
} block_t;

static block_t block_of(const coll_nagaya_side* side, uint32_t n) {
  ompi_datatype_t* const type = side->types != NULL ? side->types[n] : side->type;
  const ptrdiff_t extent = type->super.ub - type->super.lb;
  const size_t count = side->counts != NULL ? (size_t)side->counts[n] : side->count;
  ptrdiff_t offset = side->is_for_all ? 0 : (ptrdiff_t)n * (ptrdiff_t)side->count * extent;
  if (side->displacements != NULL)
    offset = side->displacements[n] * (side->types != NULL ? 1 : extent);
  return (block_t){side->buffer + offset, count, type};
}

static bool are_one_run_each(const coll_nagaya_side* side) {
  const bool are_alike = side->counts == NULL && side->types == NULL;
  for (uint32_t n = 0; n < (are_alike ? 1 : side->blocks); ++n) {
    const block_t block = block_of(side, n);
    if (!nagaya_is_one_run(block.type, block.count)) return false;
  }
  return true;
}

/* ---- derived types as runs ----------------------------------------------------------------- */

/* Returns the team's number of ranks, for a side with a block for each. */
static uint32_t rank_count(const coll_nagaya_side* side) {
  return side->ranks_before + side->blocks + side->ranks_behind;
}
static uint32_t type_count(const coll_nagaya_side* side) {
  return side->types != NULL ? rank_count(side) : 1;
}

static size_t longest_count(const coll_nagaya_side* side) {
  size_t longest = side->count;
  for (uint32_t n = 0; side->counts != NULL && n < side->blocks; ++n)
    if ((size_t)side->counts[n] > longest) longest = (size_t)side->counts[n];
  return longest;
}

/* Describes the runs of each type's longest block as nagaya_blocks needs them: as if the block
 * began at the side's buffer. Returns false if one has too many runs, or without memory. */
static bool describe_runs(const coll_nagaya_side* side, nagaya_runs*** runs) {
  if (*runs == NULL) *runs = calloc(type_count(side), sizeof **runs);
  if (*runs == NULL) return false;
  if (side->types == NULL)
    return nagaya_describe_runs(side->buffer, side->type, longest_count(side), *runs);
  for (uint32_t n = 0; n < side->blocks; ++n)
    if (!nagaya_describe_runs(side->buffer, side->types[n], (size_t)side->counts[n],
                              &(*runs)[side->ranks_before + n]))
      return false;
  return true;
}

static void free_runs(const coll_nagaya_side* side, nagaya_runs** runs) {
  for (uint32_t n = 0; runs != NULL && n < type_count(side); ++n) free(runs[n]);
  free(runs);
}

/* ---- packing ------------------------------------------------------------------------------- */

static void pack(const block_t* from, void* to, size_t bytes) {
  struct iovec all = {.iov_base = to, .iov_len = bytes};
  uint32_t pieces = 1;
  opal_convertor_t convertor;
  OBJ_CONSTRUCT(&convertor, opal_convertor_t);
  opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &from->type->super,
                                           from->count, from->buffer, 0, &convertor);
  opal_convertor_pack(&convertor, &all, &pieces, &bytes);
  OBJ_DESTRUCT(&convertor);
}

static void unpack(const void* from, size_t bytes, const block_t* to) {
  struct iovec all = {.iov_base = (void*)from, .iov_len = bytes};
  uint32_t pieces = 1;
  opal_convertor_t convertor;
  OBJ_CONSTRUCT(&convertor, opal_convertor_t);
  opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &to->type->super, to->count,
                                           to->buffer, 0, &convertor);
  opal_convertor_unpack(&convertor, &all, &pieces, &bytes);
  OBJ_DESTRUCT(&convertor);
}

/* Unpacks a rank's data into a receive buffer of more runs than can be described. */
static void store(void* context, uint32_t rank, const void* data, size_t bytes) {
  coll_nagaya_call* const call = context;
  const coll_nagaya_side* const side = &call->receive;
  if (bytes == 0) return;
  const block_t block = block_of(side, side->blocks == 1 ? 0 : rank - side->ranks_before);
  const size_t capacity = nagaya_bytes(block.type, block.count);
  if (bytes > capacity) call->collective.error = -EMSGSIZE;
  unpack(data, bytes < capacity ? bytes : capacity, &block);
}

/* ---- where the data are -------------------------------------------------------------------- */

static char* start_of(const block_t* block, bool is_in_runs) {
  return is_in_runs ? block->buffer : nagaya_run_start(block->buffer, block->type);
}

static bool needs_block_table(const coll_nagaya_side* side) {
  return side->counts != NULL || side->types != NULL ||
         side->ranks_before + side->ranks_behind != 0;
}

/* Lists blocks with sizes of their own in `*table`: | bytes of each | offset of each |. */
static bool describe_each_block(const coll_nagaya_side* side, bool are_in_runs, nagaya_blocks* out,
                                void** table) {
  const uint32_t ranks = rank_count(side);
  if (*table == NULL) *table = calloc(ranks, sizeof(size_t) + sizeof(ptrdiff_t));
  if (*table == NULL) return false;
  size_t* const bytes_of = *table;
  ptrdiff_t* const offset_of = (ptrdiff_t*)(bytes_of + ranks);
  for (uint32_t n = 0; n < side->blocks; ++n) {
    const block_t block = block_of(side, n);
    bytes_of[side->ranks_before + n] = nagaya_bytes(block.type, block.count);
    offset_of[side->ranks_before + n] = start_of(&block, are_in_runs) - side->buffer;
  }
  out->base = side->buffer;
  out->bytes_of = bytes_of;
  out->offset_of = offset_of;
  return true;
}

/* Describes where a side's blocks are. `runs` are those of describe_runs(); NULL: each is one
 * run. */
static bool describe_blocks(const coll_nagaya_side* side, nagaya_runs** runs, nagaya_blocks* out,
                            void** table) {
  if (runs != NULL && side->types != NULL)
    out->runs_of = (const nagaya_runs* const*)runs;
  else if (runs != NULL)
    out->runs = *runs;
  if (needs_block_table(side)) return describe_each_block(side, runs != NULL, out, table);
  const block_t block = block_of(side, 0);
  out->base = start_of(&block, runs != NULL);
  out->bytes = nagaya_bytes(block.type, block.count);
  out->stride = (ptrdiff_t)block.count * (block.type->super.ub - block.type->super.lb);
  return true;
}

/* Packs all blocks of the send side, one behind the other, or the one that is for all ranks. */
static bool describe_packed_blocks(coll_nagaya_call* call) {
  const coll_nagaya_side* const side = &call->send;
  nagaya_blocks* const out = &call->collective.send;
  if (!describe_each_block(side, false, out, &call->send_block_table)) return false;
  const size_t* const bytes_of = out->bytes_of + side->ranks_before;
  ptrdiff_t* const offset_of = (ptrdiff_t*)out->offset_of + side->ranks_before;
  const uint32_t packed = side->is_for_all ? 1 : side->blocks;
  size_t total = 0;
  for (uint32_t n = 0; n < side->blocks; ++n) {
    offset_of[n] = side->is_for_all ? 0 : (ptrdiff_t)total;
    if (n < packed) total += bytes_of[n];
  }
  if (call->packed == NULL) call->packed = malloc(total + 1);
  if (call->packed == NULL) return false;
  for (uint32_t n = 0; n < packed; ++n) {
    const block_t block = block_of(side, n);
    pack(&block, (char*)call->packed + offset_of[n], bytes_of[n]);
  }
  out->base = call->packed;
  return true;
}

static bool describe_send_side(coll_nagaya_call* call) {
  const coll_nagaya_side* const side = &call->send;
  nagaya_blocks* const out = &call->collective.send;
  if (are_one_run_each(side)) return describe_blocks(side, NULL, out, &call->send_block_table);
  if (describe_runs(side, &call->send_runs))
    return describe_blocks(side, call->send_runs, out, &call->send_block_table);
  return describe_packed_blocks(call);
}

static bool describe_receive_side(coll_nagaya_call* call) {
  const coll_nagaya_side* const side = &call->receive;
  nagaya_blocks* const out = &call->collective.receive;
  if (are_one_run_each(side)) return describe_blocks(side, NULL, out, &call->receive_block_table);
  if (describe_runs(side, &call->receive_runs))
    return describe_blocks(side, call->receive_runs, out, &call->receive_block_table);
  call->collective.store = store;
  call->collective.store_context = call;
  return describe_blocks(side, NULL, out, &call->receive_block_table);
}

int coll_nagaya_describe_data(coll_nagaya_call* call) {
  const bool is_described = (call->send.blocks == 0 || describe_send_side(call)) &&
                            (call->receive.blocks == 0 || describe_receive_side(call));
  return is_described ? OMPI_SUCCESS : MPI_ERR_NO_MEM;
}

void coll_nagaya_end_call(coll_nagaya_call* call) {
  if (OPAL_LIKELY(call->packed == NULL && call->send_block_table == NULL &&
                  call->receive_block_table == NULL && call->send_runs == NULL &&
                  call->receive_runs == NULL && call->counts == NULL && call->types == NULL &&
                  call->lists[0] == NULL && call->lists[1] == NULL))
    return;
  free_runs(&call->send, call->send_runs);
  free_runs(&call->receive, call->receive_runs);
  free(call->packed);
  free(call->send_block_table);
  free(call->receive_block_table);
  free(call->counts);
  free(call->types);
  free(call->lists[0]);
  free(call->lists[1]);
}
