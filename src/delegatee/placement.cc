// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/placement.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <string>

#include "base/error.h"
#include "llcl/board/board.h"

namespace nagaya::delegatee {
namespace {

struct BitmapFreer {
  void operator()(hwloc_bitmap_t bitmap) const { ::hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapFreer>;

}  // namespace

std::optional<Placement> Placement::of_machine() try {
  std::string nodes;  // "0", "0-1", "0,2"
  std::getline(std::ifstream("/sys/devices/system/node/has_memory"), nodes);
  const bool is_one = nodes.find_first_of(",-") == std::string::npos;
  if (is_one && ::sysconf(_SC_NPROCESSORS_ONLN) < 2 * long{kCoresEach}) return std::nullopt;
  return Placement();
} catch (const base::Error&) {
  return std::nullopt;  // without a placement the delegatee is only slower
}

Placement::Placement() {
  hwloc_topology_t topology;
  if (::hwloc_topology_init(&topology) != 0) base::throw_errno("hwloc");
  topology_.reset(topology);
  ::hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (::hwloc_topology_load(topology) != 0) base::throw_errno("hwloc cannot see this machine");
  find_domains();
}

// ---- delegatees --------------------------------------------------------------------------------

// A memory node without processors, or with those of several others, or with those of an earlier
// one, is no domain.
void Placement::find_domains() {
  std::vector<hwloc_obj_t> nodes;
  hwloc_obj_t node = nullptr;
  while ((node = ::hwloc_get_next_obj_by_type(topology_.get(), HWLOC_OBJ_NUMANODE, node)))
    if (!::hwloc_bitmap_iszero(node->cpuset)) nodes.push_back(node);
  for (const hwloc_obj_t candidate : nodes) {
    const bool is_one = std::ranges::none_of(nodes, [&](hwloc_obj_t other) {
      if (!::hwloc_bitmap_isincluded(other->cpuset, candidate->cpuset)) return false;
      return !::hwloc_bitmap_isequal(other->cpuset, candidate->cpuset) ||
             other->logical_index < candidate->logical_index;
    });
    if (is_one) domains_.push_back(candidate);
  }
  std::ranges::stable_partition(domains_, [&](hwloc_obj_t one) { return has_device(one); });
}

bool Placement::has_device(hwloc_obj_t domain, const std::string& name) const {
  hwloc_obj_t device = nullptr;
  while ((device = ::hwloc_get_next_osdev(topology_.get(), device))) {
    const auto type = device->attr->osdev.type;
    if (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS) continue;
    if (!name.empty() && name != device->name) continue;
    const hwloc_obj_t place = ::hwloc_get_non_io_ancestor_obj(topology_.get(), device);
    if (::hwloc_bitmap_isincluded(place->cpuset, domain->cpuset)) return true;
  }
  return false;
}

Delegation Placement::delegation(uint32_t tasks) const {
  const int cores = ::hwloc_get_nbobjs_by_type(topology_.get(), HWLOC_OBJ_CORE);
  Delegation chosen;
  chosen.domains = static_cast<uint32_t>(std::max<size_t>(domains_.size(), 1));
  chosen.cores = static_cast<uint32_t>(std::max(cores, 1));
  const uint32_t wanted = std::max(chosen.domains, chosen.cores / kCoresEach);
  const uint32_t most = std::clamp<uint32_t>(tasks / kTasksEach, 1, llcl::kDelegateesMax);
  chosen.delegatees = std::bit_floor(std::min(wanted, most));
  return chosen;
}

int Placement::node_of_delegatee(uint32_t n, const std::string& device) const {
  if (domains_.size() < 2) return -1;
  const auto near = std::ranges::find_if(
      domains_, [&](hwloc_obj_t one) { return !device.empty() && has_device(one, device); });
  return static_cast<int>(
      (near != domains_.end() ? *near : domains_[n % domains_.size()])->os_index);
}

// ---- memory ------------------------------------------------------------------------------------

// Returns the first memory node that is near to all of these processors. Skips a node that is near
// to all processors of the machine (far memory, or the only node): the first touch does better.
int Placement::node_of(hwloc_const_cpuset_t processors) const {
  if (::hwloc_bitmap_iszero(processors)) return -1;
  const auto* const everything = ::hwloc_topology_get_topology_cpuset(topology_.get());
  hwloc_obj_t node = nullptr;
  while ((node = ::hwloc_get_next_obj_by_type(topology_.get(), HWLOC_OBJ_NUMANODE, node)))
    if (::hwloc_bitmap_isincluded(processors, node->cpuset) &&
        !::hwloc_bitmap_isequal(node->cpuset, everything))
      return static_cast<int>(node->os_index);
  return -1;
}

int Placement::node_of(std::span<const uint64_t> processors) const {
  const Bitmap set(::hwloc_bitmap_alloc());
  for (size_t n = 0; n < processors.size(); ++n)
    ::hwloc_bitmap_set_ith_ulong(set.get(), static_cast<unsigned>(n), processors[n]);
  return node_of(set.get());
}

int Placement::settle_thread(uint32_t n, uint32_t count, const std::string& device) const {
  const Bitmap set(::hwloc_bitmap_alloc());
  if (::hwloc_get_last_cpu_location(topology_.get(), set.get(), HWLOC_CPUBIND_THREAD) != 0)
    return -1;
  const bool is_lone = count == 1 && device.empty();
  const int node = is_lone ? node_of(set.get()) : node_of_delegatee(n, device);
  if (node < 0) return -1;
  const auto* const found =
      ::hwloc_get_numanode_obj_by_os_index(topology_.get(), static_cast<unsigned>(node));
  const int error = ::hwloc_set_cpubind(topology_.get(), found->cpuset, HWLOC_CPUBIND_THREAD);
  return error == 0 ? node : -1;
}

void Placement::put(const void* memory, size_t bytes, int node) const {
  if (node < 0) return;
  const Bitmap set(::hwloc_bitmap_alloc());
  ::hwloc_bitmap_only(set.get(), static_cast<unsigned>(node));
  // A refusal costs speed only.
  ::hwloc_set_area_membind(topology_.get(), memory, bytes, set.get(), HWLOC_MEMBIND_BIND,
                           HWLOC_MEMBIND_BYNODESET);
}

}  // namespace nagaya::delegatee
