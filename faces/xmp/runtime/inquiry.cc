// SPDX-License-Identifier: BSD-3-Clause
// inquiry.cc - the functions of xmp/xmp.h about the caller, nodes and templates; descriptors.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "faces/xmp/runtime/answers.h"
#include "faces/xmp/runtime/arrays.h"
#include "faces/xmp/runtime/asynchronous.h"
#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/job.h"

using namespace nagaya::xmp;

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
  return poll_tag(async_id) ? 1 : 0;
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

// ---- MPI beside ---------------------------------------------------------------------------------

void nagaya_xmp_expect_processes(int count) {
  if (count != xmp_all_num_nodes())
    fail(nullptr, "xmp_init: its communicator has " + std::to_string(count) +
                      " processes, the job has " + std::to_string(xmp_all_num_nodes()) +
                      ": give it MPI_COMM_WORLD");
}

const int* nagaya_xmp_executing_ranks(int* count) {
  static auto* const ranks = new std::vector<int>;  // valid until the next call
  const ProcessSet& set = Executing::now();
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
  if (array->state != nullptr && array->state->is_row) state_of(nullptr, *array);
  return descriptor(array->state);
}

long nagaya_xmp_low_of(void* of, int dimension) {
  const nagaya_xmp_template* const found = template_of(of);
  return found != nullptr ? found->low(static_cast<size_t>(dimension)) : 0;
}
