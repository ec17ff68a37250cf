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
static uint32_t ranks_of(const coll_nagaya_side* side) {
  return side->before + side->blocks + side->behind;
}
static uint32_t types_of(const coll_nagaya_side* side) {
  return side->types != NULL ? ranks_of(side) : 1;
}

static size_t longest_count(const coll_nagaya_side* side) {
  size_t longest = side->count;
  for (uint32_t n = 0; side->counts != NULL && n < side->blocks; ++n)
    if ((size_t)side->counts[n] > longest) longest = (size_t)side->counts[n];
  return longest;
}

/* Describes the runs of each type's longest block as nagaya_blocks needs them: as if the block
 * began at the side's buffer. Returns false if one has too many runs, or without memory. */
static bool describe(const coll_nagaya_side* side, nagaya_runs*** runs) {
  if (*runs == NULL) *runs = calloc(types_of(side), sizeof **runs);
  if (*runs == NULL) return false;
  if (side->types == NULL)
    return nagaya_describe(side->buffer, side->type, longest_count(side), *runs);
  for (uint32_t n = 0; n < side->blocks; ++n)
    if (!nagaya_describe(side->buffer, side->types[n], (size_t)side->counts[n],
                         &(*runs)[side->before + n]))
      return false;
  return true;
}

static void free_runs(const coll_nagaya_side* side, nagaya_runs** runs) {
  for (uint32_t n = 0; runs != NULL && n < types_of(side); ++n) free(runs[n]);
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
  const block_t block = block_of(side, side->blocks == 1 ? 0 : rank - side->before);
  const size_t capacity = nagaya_bytes(block.type, block.count);
  if (bytes > capacity) call->collective.error = -EMSGSIZE;
  unpack(data, bytes < capacity ? bytes : capacity, &block);
}

/* ---- where the data are -------------------------------------------------------------------- */

static char* start_of(const block_t* block, bool is_in_runs) {
  return is_in_runs ? block->buffer : nagaya_run(block->buffer, block->type);
}

static bool are_listed(const coll_nagaya_side* side) {
  return side->counts != NULL || side->types != NULL || side->before + side->behind != 0;
}

/* Lists blocks with sizes of their own in `*places`: | bytes of each | offset of each |. */
static bool place_each(const coll_nagaya_side* side, bool are_in_runs, nagaya_blocks* out,
                       void** places) {
  const uint32_t ranks = ranks_of(side);
  if (*places == NULL) *places = calloc(ranks, sizeof(size_t) + sizeof(ptrdiff_t));
  if (*places == NULL) return false;
  size_t* const bytes_of = *places;
  ptrdiff_t* const offset_of = (ptrdiff_t*)(bytes_of + ranks);
  for (uint32_t n = 0; n < side->blocks; ++n) {
    const block_t block = block_of(side, n);
    bytes_of[side->before + n] = nagaya_bytes(block.type, block.count);
    offset_of[side->before + n] = start_of(&block, are_in_runs) - side->buffer;
  }
  out->base = side->buffer;
  out->bytes_of = bytes_of;
  out->offset_of = offset_of;
  return true;
}

/* Describes where a side's blocks are. `runs` are those of describe(); NULL: each is one run. */
static bool place(const coll_nagaya_side* side, nagaya_runs** runs, nagaya_blocks* out,
                  void** places) {
  if (runs != NULL && side->types != NULL)
    out->runs_of = (const nagaya_runs* const*)runs;
  else if (runs != NULL)
    out->runs = *runs;
  if (are_listed(side)) return place_each(side, runs != NULL, out, places);
  const block_t block = block_of(side, 0);
  out->base = start_of(&block, runs != NULL);
  out->bytes = nagaya_bytes(block.type, block.count);
  out->stride = (ptrdiff_t)block.count * (block.type->super.ub - block.type->super.lb);
  return true;
}

/* Packs all blocks of the send side, one behind the other, or the one that is for all ranks. */
static bool place_packed(coll_nagaya_call* call) {
  const coll_nagaya_side* const side = &call->send;
  nagaya_blocks* const out = &call->collective.send;
  if (!place_each(side, false, out, &call->send_places)) return false;
  const size_t* const bytes_of = out->bytes_of + side->before;
  ptrdiff_t* const offset_of = (ptrdiff_t*)out->offset_of + side->before;
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

static bool place_send(coll_nagaya_call* call) {
  const coll_nagaya_side* const side = &call->send;
  nagaya_blocks* const out = &call->collective.send;
  if (are_one_run_each(side)) return place(side, NULL, out, &call->send_places);
  if (describe(side, &call->send_runs))
    return place(side, call->send_runs, out, &call->send_places);
  return place_packed(call);
}

static bool place_receive(coll_nagaya_call* call) {
  const coll_nagaya_side* const side = &call->receive;
  nagaya_blocks* const out = &call->collective.receive;
  if (are_one_run_each(side)) return place(side, NULL, out, &call->receive_places);
  if (describe(side, &call->receive_runs))
    return place(side, call->receive_runs, out, &call->receive_places);
  call->collective.store = store;
  call->collective.store_context = call;
  return place(side, NULL, out, &call->receive_places);
}

int coll_nagaya_place_data(coll_nagaya_call* call) {
  const bool is_placed = (call->send.blocks == 0 || place_send(call)) &&
                         (call->receive.blocks == 0 || place_receive(call));
  return is_placed ? OMPI_SUCCESS : MPI_ERR_NO_MEM;
}

void coll_nagaya_end_call(coll_nagaya_call* call) {
  if (OPAL_LIKELY(call->packed == NULL && call->send_places == NULL &&
                  call->receive_places == NULL && call->send_runs == NULL &&
                  call->receive_runs == NULL && call->counts == NULL && call->types == NULL))
    return;
  free_runs(&call->send, call->send_runs);
  free_runs(&call->receive, call->receive_runs);
  free(call->packed);
  free(call->send_places);
  free(call->receive_places);
  free(call->counts);
  free(call->types);
}
