// SPDX-License-Identifier: BSD-3-Clause
// binding.h - which processors each rank of a job may use, as mpirun's options --map-by and
// --bind-to say it: mapping deals out the ranks to objects of the machine (packages, cores, ...) in
// turn, binding gives a rank the least used object inside the one that it was dealt to, or the
// larger one around it.
#pragma once

#include <hwloc.h>
#include <sched.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nagaya::tools {

// The processors that this process may use, and how they share caches and memory.
class Topology {
 public:
  Topology();                                                       // throws Error
  explicit Topology(hwloc_topology_t loaded) : topology_(loaded) {  // takes it over
  }
  ~Topology() { hwloc_topology_destroy(topology_); }
  Topology(const Topology&) = delete;

  hwloc_topology_t get() const { return topology_; }

 private:
  hwloc_topology_t topology_ = nullptr;
};

// The values of the two options; "": not given.
//   bind_to  none, or hwthread, core, l3cache, numa, package, socket (the same), and behind it
//            perhaps ":overload-allowed"
//   map_by   slot, node (both: the whole machine), or hwthread, core, l3cache, numa, package,
//            socket, and behind it perhaps ":PE=n": n cores for each rank
struct BindingOptions {
  std::string bind_to;
  std::string map_by;
};

// By default, as in mpirun: up to two ranks get a core each, more ranks a NUMA node each in turn
// (which mpirun's manual calls a socket), and no rank is bound if there are more ranks than cores.
// With --map-by alone a rank is bound to the object that it was dealt to.
class Binding {
 public:
  // Throws OptionError: a value is wrong, the machine has no such objects, or an object that was
  // asked for by --bind-to or PE would get more ranks than it has cores.
  Binding(const Topology& topology, const BindingOptions& options, uint32_t ranks);

  // Returns the processors of a rank; nullopt: it is not bound.
  std::optional<cpu_set_t> cpus_of(uint32_t rank) const;
  // Returns them as hwloc prints a list: "0-3,8"; "": it is not bound.
  std::string list_of(uint32_t rank) const;
  // Returns the line of --report-bindings: "rank 0 of 4: core 0 (processors 0,4)", with hwloc's
  // logical number of the core.
  std::string report_of(uint32_t rank) const;

 private:
  hwloc_topology_t topology_;
  const char* kind_ = "";                          // of the objects, in the report
  std::vector<std::vector<hwloc_obj_t>> objects_;  // of each rank; empty: it is not bound
};

}  // namespace nagaya::tools
