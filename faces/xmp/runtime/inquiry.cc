// SPDX-License-Identifier: BSD-3-Clause
// inquiry.cc - the functions of xmp/xmp.h.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/asynchronous.h"
#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/job.h"
#include "faces/xmp/runtime/nodes.h"
#include "faces/xmp/runtime/templates.h"
#include "xmp/xmp.h"

using nagaya::xmp::Descriptor;
using nagaya::xmp::Executing;
using nagaya::xmp::Job;
using nagaya::xmp::object_of;

namespace {

const nagaya_xmp_nodes* nodes_of(xmp_desc_t d) {
  return object_of<nagaya_xmp_nodes>(d, XMP_DESC_NODES);
}

const nagaya_xmp_template* template_of(xmp_desc_t d) {
  return object_of<nagaya_xmp_template>(d, XMP_DESC_TEMPLATE);
}

// Returns the array that the descriptor, its state, belongs to; nullptr: `d` is no array.
const nagaya_xmp_array* array_of(xmp_desc_t d) {
  const auto* const state = object_of<nagaya_xmp_array_state>(d, XMP_DESC_ARRAY);
  return state == nullptr ? nullptr : state->array;
}

using Answer = std::optional<long>;

// Stores the answer in *out and returns 0. Without an answer, or if it does not fit into an int,
// stores XMP_UNDEFINED and returns XMP_FAILURE.
int store(Answer answer, int* out) {
  if (answer && *answer != static_cast<int>(*answer)) answer.reset();
  *out = static_cast<int>(answer.value_or(XMP_UNDEFINED));
  return answer.has_value() ? 0 : XMP_FAILURE;
}

// Stores the answer of ask(*of); fails if `of` is a null pointer.
int answer(const auto* of, int* out, auto ask) {
  return store(of == nullptr ? Answer() : ask(*of), out);
}

// Stores the answer of ask(*of, d) for dimension `dim` of nodes or a template. The program counts
// these from 1, beginning with the last dimension of C.
int answer(const auto* of, int dim, int* out, auto ask) {
  const int dimensions = of == nullptr ? 0 : static_cast<int>(of->dimensions());
  if (dim < 1 || dim > dimensions) return store(std::nullopt, out);
  return store(ask(*of, static_cast<size_t>(dimensions - dim)), out);
}

// Stores the answer of ask(array, d) for dimension `dim` of an array, counted from 1 in C's
// order.
int answer_of_array(xmp_desc_t d, int dim, int* out, auto ask) {
  const nagaya_xmp_array* const array = array_of(d);
  if (array == nullptr || dim < 1 || static_cast<size_t>(dim) > array->state->dimensions())
    return store(std::nullopt, out);
  return store(ask(*array, static_cast<size_t>(dim - 1)), out);
}

// Returns the program's number of dimension d of nodes or a template; nothing if d is negative.
Answer program_dimension(size_t dimensions, int d) {
  return d < 0 ? Answer() : static_cast<long>(dimensions) - d;
}

}  // namespace

int xmp_desc_kind(xmp_desc_t d, int* kind) {
  if (d == nullptr) return XMP_FAILURE;
  *kind = static_cast<const Descriptor*>(d)->kind;
  return 0;
}

// ---- the caller ---------------------------------------------------------------------------------

int xmpc_all_node_num() {
  return static_cast<int>(Job::own().rank());
}

int xmp_all_node_num() {
  return xmpc_all_node_num() + 1;
}

int xmp_all_num_nodes() {
  return static_cast<int>(Job::own().size());
}

int xmpc_node_num() {
  return static_cast<int>(Executing::now().own_index());
}

int xmp_node_num() {
  return xmpc_node_num() + 1;
}

int xmp_num_nodes() {
  return static_cast<int>(Executing::now().size());
}

int xmpc_this_image() {
  return xmpc_node_num();
}

int xmp_num_images() {
  return xmp_num_nodes();
}

double xmp_wtime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double xmp_wtick() {
  timespec resolution;
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<double>(resolution.tv_sec) + 1e-9 * static_cast<double>(resolution.tv_nsec);
}

void xmp_barrier() {
  nagaya_xmp_barrier("", nullptr);
}

int xmp_test_async(int async_id) {
  return nagaya::xmp::poll_tag(async_id) ? 1 : 0;
}

void xmp_exit(int status) {
  std::exit(status);
}

// ---- nodes --------------------------------------------------------------------------------------

int xmp_nodes_ndims(xmp_desc_t d, int* ndims) {
  return answer(nodes_of(d), ndims, [](const auto& nodes) { return nodes.dimensions(); });
}

int xmp_nodes_index(xmp_desc_t d, int dim, int* index) {
  const int status = xmpc_nodes_index(d, dim, index);
  if (status == 0) ++*index;
  return status;
}

int xmpc_nodes_index(xmp_desc_t d, int dim, int* index) {
  return answer(nodes_of(d), dim, index, [](const auto& nodes, size_t n) {
    return nodes.set.has_caller() ? long{nodes.own_coordinate(n)} : Answer();
  });
}

int xmp_nodes_size(xmp_desc_t d, int dim, int* size) {
  return answer(nodes_of(d), dim, size,
                [](const auto& nodes, size_t n) { return nodes.extent[n]; });
}

int xmp_nodes_rank(xmp_desc_t d, int* rank) {
  return answer(nodes_of(d), rank, [](const auto& nodes) {
    return nodes.set.has_caller() ? nodes.set.own_index() + 1 : Answer();
  });
}

int xmp_nodes_attr(xmp_desc_t d, int* attr) {
  return answer(nodes_of(d), attr, [](const auto& nodes) { return nodes.attribute; });
}

int xmp_nodes_equiv(xmp_desc_t d, xmp_desc_t* dn, int lb[], int ub[], int st[]) {
  *dn = nullptr;
  const nagaya_xmp_nodes* const nodes = nodes_of(d);
  if (nodes == nullptr || nodes->parent == nullptr) return XMP_FAILURE;
  *dn = nagaya_xmp_descriptor_of_nodes(nodes->parent);
  const std::vector<nagaya_xmp_nodes::SectionRange>& ranges = nodes->section_ranges;
  for (size_t n = 0; n < ranges.size(); ++n) {
    const nagaya_xmp_nodes::SectionRange& part = ranges[ranges.size() - 1 - n];
    lb[n] = static_cast<int>(part.low + 1);
    ub[n] = static_cast<int>(part.high + 1);
    st[n] = static_cast<int>(part.step);
  }
  return 0;
}

// ---- templates ----------------------------------------------------------------------------------

int xmp_template_fixed(xmp_desc_t d, int* fixed) {
  return answer(template_of(d), fixed, [](const auto& of) { return of.is_fixed ? 1 : 0; });
}

int xmp_template_ndims(xmp_desc_t d, int* ndims) {
  return answer(template_of(d), ndims, [](const auto& of) { return of.dimensions(); });
}

int xmp_template_lbound(xmp_desc_t d, int dim, int* lbound) {
  return answer(template_of(d), dim, lbound,
                [](const auto& of, size_t n) { return of.is_fixed ? of.low(n) : Answer(); });
}

int xmp_template_ubound(xmp_desc_t d, int dim, int* ubound) {
  return answer(template_of(d), dim, ubound,
                [](const auto& of, size_t n) { return of.is_fixed ? of.high(n) : Answer(); });
}

int xmp_dist_format(xmp_desc_t d, int dim, int* format) {
  return answer(template_of(d), dim, format, [](const auto& of, size_t n) -> Answer {
    if (of.onto == nullptr) return std::nullopt;
    // In the order of nagaya_xmp_distribution_kind.
    constexpr int kFormats[] = {XMP_NOT_DISTRIBUTED, XMP_BLOCK, XMP_CYCLIC, XMP_GBLOCK};
    return kFormats[of.kinds[n].kind];
  });
}

int xmp_dist_blocksize(xmp_desc_t d, int dim, int* blocksize) {
  return answer(template_of(d), dim, blocksize, [](const auto& of, size_t n) -> Answer {
    if (!of.is_usable() || of.kinds[n].kind == NAGAYA_XMP_GBLOCK) return std::nullopt;
    return of.axis(n) < 0 ? of.high(n) - of.low(n) + 1 : of.width(n);
  });
}

int xmp_dist_gblockmap(xmp_desc_t d, int dim, int map[]) {
  const nagaya_xmp_template* const of = template_of(d);
  const int dimensions = of == nullptr ? 0 : static_cast<int>(of->dimensions());
  if (dim < 1 || dim > dimensions || of->onto == nullptr) return XMP_FAILURE;
  const auto n = static_cast<size_t>(dimensions - dim);
  if (of->kinds[n].kind != NAGAYA_XMP_GBLOCK || !of->has_sizes) return XMP_FAILURE;
  std::ranges::copy(of->sizes[n], map);
  return 0;
}

int xmp_dist_nodes(xmp_desc_t d, xmp_desc_t* dn) {
  *dn = nullptr;
  const nagaya_xmp_template* const of = template_of(d);
  if (of == nullptr || of->onto == nullptr) return XMP_FAILURE;
  *dn = nagaya_xmp_descriptor_of_nodes(of->onto);
  return 0;
}

int xmp_dist_axis(xmp_desc_t d, int dim, int* axis) {
  return answer(template_of(d), dim, axis, [](const auto& of, size_t n) {
    return of.onto == nullptr ? Answer() : program_dimension(of.onto->dimensions(), of.axis(n));
  });
}

// ---- arrays -------------------------------------------------------------------------------------

int xmp_align_axis(xmp_desc_t d, int dim, int* axis) {
  return answer_of_array(d, dim, axis, [](const auto& array, size_t n) {
    return program_dimension(array.state->with->dimensions(), array.state->alignments[n].dimension);
  });
}

int xmp_align_offset(xmp_desc_t d, int dim, int* offset) {
  return answer_of_array(d, dim, offset, [](const auto& array, size_t n) {
    const nagaya_xmp_alignment& alignment = array.state->alignments[n];
    return alignment.dimension < 0 ? Answer() : alignment.offset;
  });
}

int xmp_align_replicated(xmp_desc_t d, int dim, int* replicated) {
  *replicated = XMP_UNDEFINED;
  const nagaya_xmp_array* const array = array_of(d);
  if (array == nullptr) return XMP_FAILURE;
  const auto dimensions = static_cast<int>(array->state->with->dimensions());
  if (dim < 1 || dim > dimensions) return XMP_FAILURE;
  *replicated = std::ranges::none_of(array->state->alignments, [&](const auto& alignment) {
    return alignment.dimension == dimensions - dim;
  });
  return 0;
}

int xmp_align_template(xmp_desc_t d, xmp_desc_t* dt) {
  const nagaya_xmp_array* const array = array_of(d);
  *dt = array == nullptr ? nullptr : nagaya_xmp_descriptor_of_template(array->state->with);
  return array == nullptr ? XMP_FAILURE : 0;
}

int xmp_array_ndims(xmp_desc_t d, int* ndims) {
  return answer_of_array(d, 1, ndims,
                         [](const auto& array, size_t) { return array.state->dimensions(); });
}

int xmp_array_lbound(xmp_desc_t d, int dim, int* lbound) {
  return answer_of_array(d, dim, lbound, [](const auto&, size_t) { return 0; });
}

int xmp_array_ubound(xmp_desc_t d, int dim, int* ubound) {
  return answer_of_array(d, dim, ubound,
                         [](const auto& array, size_t n) { return array.state->extents[n] - 1; });
}

int xmp_array_lshadow(xmp_desc_t d, int dim, int* lshadow) {
  return answer_of_array(d, dim, lshadow, [](const auto& array, size_t n) {
    return array.state->shadow_widths(n).first;
  });
}

int xmp_array_ushadow(xmp_desc_t d, int dim, int* ushadow) {
  return answer_of_array(d, dim, ushadow, [](const auto& array, size_t n) {
    return array.state->shadow_widths(n).second;
  });
}

size_t xmp_array_type_size(xmp_desc_t d) {
  const nagaya_xmp_array* const array = array_of(d);
  return array == nullptr ? 0 : array->state->element_bytes;
}

int xmp_array_gsize(xmp_desc_t d, int dim) {
  int size;
  answer_of_array(d, dim, &size,
                  [](const auto& array, size_t n) { return array.state->extents[n]; });
  return size;
}

// The sizes are a list, because a variable argument may be an int or a long.
void* nagaya_xmp_malloc(xmp_desc_t d, size_t count, const long size[]) {
  const auto* const state = object_of<nagaya_xmp_array_state>(d, XMP_DESC_ARRAY);
  if (state == nullptr || state->dimensions() != count)
    nagaya::xmp::fail(nullptr, "xmp_malloc: the descriptor is of no aligned pointer of " +
                                   std::to_string(count) + " dimensions");
  nagaya_xmp_array& array = const_cast<nagaya_xmp_array&>(*state->array);
  nagaya::xmp::allocate_blocks(array, size);
  return array.base;
}

void xmp_free(xmp_desc_t d) {
  const nagaya_xmp_array* const array = array_of(d);
  if (array != nullptr) nagaya::xmp::free_blocks(const_cast<nagaya_xmp_array&>(*array));
}

int xmp_array_laddr(xmp_desc_t d, void** laddr) {
  const nagaya_xmp_array* const array = array_of(d);
  *laddr = array == nullptr || array->state->blocks == nullptr ? nullptr : array->base;
  return *laddr == nullptr ? XMP_FAILURE : 0;
}

int xmp_array_lsize(xmp_desc_t d, int dim, int* lsize) {
  return answer_of_array(d, dim, lsize, [](const auto& array, size_t n) -> Answer {
    if (array.state->blocks == nullptr) return std::nullopt;
    const nagaya_interval own = array.state->own_part(n);
    return own.high - own.low + 1;
  });
}

int xmp_array_lda(xmp_desc_t d, int* lda) {
  return answer_of_array(d, 2, lda, [](const auto& array, size_t) -> Answer {
    const bool has_rows = array.state->dimensions() == 2 && array.state->blocks != nullptr;
    return has_rows ? array.count[1] : Answer();
  });
}

int xmp_array_lead_dim(xmp_desc_t d, int size[]) {
  const nagaya_xmp_array* const array = array_of(d);
  if (array == nullptr || array->state->blocks == nullptr) return XMP_FAILURE;
  long elements = 1;
  int status = 0;
  for (size_t n = array->state->dimensions(); n-- != 0; elements *= array->count[n])
    if (store(elements, &size[n]) != 0) status = XMP_FAILURE;
  return status;
}

int xmp_array_gtol(xmp_desc_t d, int dim, int g_idx, int* lidx) {
  return answer_of_array(d, dim, lidx, [&](const auto& array, size_t n) -> Answer {
    if (array.state->blocks == nullptr) return std::nullopt;
    const long at = array.state->has_places(n) ? nagaya_xmp_place(array.cycle[n], g_idx) : g_idx;
    return at - array.first[n];
  });
}

// ---- extensions ---------------------------------------------------------------------------------

void* nagaya_xmp_element(xmp_desc_t d, const long index[]) {
  const nagaya_xmp_array* const array = array_of(d);
  if (array == nullptr || array->state->blocks == nullptr) return nullptr;
  return nagaya_array_element(array->state->blocks, index);
}

void nagaya_xmp_expect_processes(int count) {
  if (count != xmp_all_num_nodes())
    nagaya::xmp::fail(nullptr, "xmp_init: its communicator has " + std::to_string(count) +
                                   " processes, the job has " +
                                   std::to_string(xmp_all_num_nodes()) +
                                   ": give it MPI_COMM_WORLD");
}

const int* nagaya_xmp_executing_ranks(int* count) {
  static auto* const ranks = new std::vector<int>;  // valid until the next call
  const nagaya::xmp::ProcessSet& set = Executing::now();
  ranks->resize(set.size());
  for (uint32_t n = 0; n < set.size(); ++n) (*ranks)[n] = static_cast<int>(set.job_rank(n));
  *count = static_cast<int>(set.size());
  return ranks->data();
}

void* nagaya_xmp_kept_for_executing() {
  return Executing::now().communicator_memory();
}

// ---- descriptors --------------------------------------------------------------------------------

namespace {

xmp_desc_t descriptor(const Descriptor* of) {
  return const_cast<Descriptor*>(of);
}

}  // namespace

void* nagaya_xmp_descriptor_of_nodes(const nagaya_xmp_nodes* nodes) {
  return descriptor(nodes);
}

void* nagaya_xmp_descriptor_of_template(const nagaya_xmp_template* described) {
  return descriptor(described);
}

void* nagaya_xmp_descriptor_of_numbers(const nagaya_xmp_array* array, nagaya_xmp_type type) {
  if (array->state != nullptr) array->state->type = type;
  return nagaya_xmp_descriptor_of_array(array);
}

void* nagaya_xmp_descriptor_of_array(const nagaya_xmp_array* array) {
  return descriptor(array->state);
}

long nagaya_xmp_low_of(void* of, int dimension) {
  const nagaya_xmp_template* const found = template_of(of);
  return found != nullptr ? found->low(static_cast<size_t>(dimension)) : 0;
}
