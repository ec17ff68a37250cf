// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/nodes.h"

#include <functional>
#include <numeric>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/reference.h"
#include "xmp/xmp.h"

using nagaya::xmp::Executing;
using nagaya::xmp::fail;
using nagaya::xmp::ProcessSet;

nagaya_xmp_nodes::nagaya_xmp_nodes(std::string of_name, bool has_brackets,
                                   std::vector<uint32_t> extents, ProcessSet& members)
    : Descriptor{XMP_DESC_NODES},
      name(std::move(of_name)),
      brackets(has_brackets),
      extent(std::move(extents)),
      set(members),
      attribute(XMP_ENTIRE_NODES) {}

uint32_t nagaya_xmp_nodes::stride(size_t d) const {
  uint32_t stride = 1;
  for (size_t k = d + 1; k < extent.size(); ++k) stride *= extent[k];
  return stride;
}

ProcessSet& nagaya_xmp_nodes::section(const std::vector<Choice>& chosen) const {
  std::vector<uint32_t> places{0};
  for (size_t d = 0; d < dimensions(); ++d) {
    std::vector<uint32_t> next;
    for (const uint32_t place : places)
      for (const uint32_t coordinate : chosen[d]) next.push_back(place * extent[d] + coordinate);
    places = std::move(next);
  }
  for (uint32_t& place : places) place = set.job_rank(place);
  return ProcessSet::of(places);
}

namespace {

// Returns the extents, with `*` (-1) replaced by the largest value that fits. The program fails if
// they need more than `available` processes.
std::vector<uint32_t> extents_of(const char* where, const std::string& name, int dimensions,
                                 const long* extent, uint32_t available, bool is_of_all) {
  long product = 1;
  int open = -1;
  for (int d = 0; d < dimensions; ++d)
    if (extent[d] == -1)
      open = d;
    else if (extent[d] < 1)
      fail(where, "nodes " + name + ": an extent is " + std::to_string(extent[d]) +
                      "; it must be at least 1");
    else if (__builtin_mul_overflow(product, extent[d], &product))
      fail(where,
           "nodes " + name + " needs more processes than any job has: make its extents smaller");
  if (product > long{available}) {
    const std::string needs =
        "nodes " + name + " needs " + std::to_string(product) + " processes, ";
    if (is_of_all)
      fail(where, needs + "the job has " + std::to_string(available) +
                      ": start it with nagaya run -n " + std::to_string(product));
    fail(where, needs + "its section has " + std::to_string(available) + ": make it larger");
  }
  std::vector<uint32_t> all(extent, extent + dimensions);
  if (open >= 0) all[static_cast<size_t>(open)] = available / static_cast<uint32_t>(product);
  return all;
}

std::vector<nagaya_xmp_nodes::SectionRange> section_ranges_of(const nagaya_xmp_on& on) {
  std::vector<nagaya_xmp_nodes::SectionRange> ranges;
  const nagaya_xmp_nodes& of = *on.nodes;
  for (size_t d = 0; d < of.dimensions(); ++d) {
    nagaya_xmp_nodes::SectionRange part{0, long{of.extent[d]} - 1, 1};
    if (on.dimensions != 0) {
      const nagaya_xmp_subscript& subscript = on.subscript[d];
      const nagaya_xmp_subscript range =
          nagaya::xmp::with_default_ends(subscript, part.low, part.high);
      if (subscript.kind == NAGAYA_XMP_RANGE)
        part = {range.low, range.high, range.step};
      else if (subscript.kind == NAGAYA_XMP_STAR)
        part.low = part.high = of.set.has_caller() ? long{of.own_coordinate(d)} : 0;
    }
    ranges.push_back(part);
  }
  return ranges;
}

}  // namespace

nagaya_xmp_nodes* nagaya_xmp_declare_nodes(const char* where, const char* name, int brackets,
                                           int dimensions, const long* extent,
                                           const nagaya_xmp_on* of, int executing) {
  const bool is_of_all = of == nullptr && executing == 0;
  const ProcessSet& base = of != nullptr ? nagaya::xmp::own_or_first_set_of(where, *of)
                           : is_of_all   ? ProcessSet::world()
                                         : Executing::now();
  std::vector<uint32_t> extents =
      extents_of(where, name, dimensions, extent, base.size(), is_of_all);
  const uint32_t size = std::accumulate(extents.begin(), extents.end(), 1u, std::multiplies<>());
  std::vector<uint32_t> ranks(size);
  for (uint32_t n = 0; n < size; ++n) ranks[n] = base.job_rank(n);
  ProcessSet& set = ProcessSet::of(ranks);
  auto* const nodes = new nagaya_xmp_nodes(name, brackets != 0, std::move(extents), set);
  if (executing != 0) nodes->attribute = XMP_EXECUTING_NODES;
  if (of != nullptr) {
    nodes->attribute = XMP_EQUIVALENCE_NODES;
    nodes->parent = of->nodes;
    if (of->nodes != nullptr) nodes->section_ranges = section_ranges_of(*of);
  }
  return nodes;
}

void nagaya_xmp_free_nodes(nagaya_xmp_nodes** nodes) {
  delete *nodes;
  *nodes = nullptr;
}
