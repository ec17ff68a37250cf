// SPDX-License-Identifier: BSD-3-Clause
#include "launch/binding.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>

#include "tool.h"

namespace nagaya::tools {
namespace {

struct Level {
  std::string_view name;
  hwloc_obj_type_t type;
  const char* kind;  // in messages
};

constexpr Level kMachine{"slot", HWLOC_OBJ_MACHINE, "machine"};
constexpr Level kCore{"core", HWLOC_OBJ_CORE, "core"};
constexpr Level kNuma{"numa", HWLOC_OBJ_NUMANODE, "NUMA node"};
constexpr std::array kLevels{
    kMachine,
    Level{"node", HWLOC_OBJ_MACHINE, "machine"},
    Level{"hwthread", HWLOC_OBJ_PU, "hardware thread"},
    kCore,
    Level{"l3cache", HWLOC_OBJ_L3CACHE, "L3 cache"},
    kNuma,
    Level{"package", HWLOC_OBJ_PACKAGE, "package"},
    Level{"socket", HWLOC_OBJ_PACKAGE, "package"},
};

constexpr std::string_view kOverload = "overload-allowed";
constexpr std::string_view kCoresPerRank = "pe=";

// The value of an option, NAME or NAME:QUALIFIER, in lower case.
struct Value {
  explicit Value(const std::string& text) : name(text) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (const size_t colon = name.find(':'); colon != std::string::npos) {
      qualifier = name.substr(colon + 1);
      name.resize(colon);
    }
  }
  std::string name;
  std::string qualifier;
};

// The plan that --map-by and --bind-to give together.
struct Plan {
  Level map = kMachine;
  std::optional<Level> bind;  // nullopt: ranks are not bound
  unsigned objects_per_rank = 1;
  std::string asked_by;  // the option that asks for this binding; "": it is the default
  bool allows_overload = true;
};

[[noreturn]] void refuse(const std::string& option, const std::string& text) {
  throw OptionError(option + ": " + text);
}

// Returns the objects of this level with processors. Several NUMA nodes beside the same processors
// (memory of several kinds) count once.
std::vector<hwloc_obj_t> objects_of(hwloc_topology_t topology, const Level& level) {
  std::vector<hwloc_obj_t> objects;
  hwloc_obj_t next = nullptr;
  while ((next = hwloc_get_next_obj_by_type(topology, level.type, next)) != nullptr) {
    const auto shares = [&](hwloc_obj_t other) {
      return hwloc_bitmap_intersects(other->cpuset, next->cpuset) != 0;
    };
    if (hwloc_bitmap_iszero(next->cpuset) == 0 &&
        std::none_of(objects.begin(), objects.end(), shares))
      objects.push_back(next);
  }
  return objects;
}

// Returns true for objects that run one rank each.
bool is_single(const Level& level) {
  return level.type == HWLOC_OBJ_CORE || level.type == HWLOC_OBJ_PU;
}

// Returns how many ranks may be bound to the object: as many as it has cores.
unsigned room_of(hwloc_topology_t topology, hwloc_obj_t object) {
  if (object->type == HWLOC_OBJ_PU) return 1;
  const auto inside = [&](hwloc_obj_type_t type) {
    return hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, type);
  };
  const int cores = inside(HWLOC_OBJ_CORE);  // 0 on machines of which the kernel does not tell
  return static_cast<unsigned>(cores > 0 ? cores : inside(HWLOC_OBJ_PU));
}

// Returns the level of this name, of which the machine has objects.
Level level_named(hwloc_topology_t topology, const std::string& name, const std::string& option) {
  const auto found = std::find_if(kLevels.begin(), kLevels.end(),
                                  [&](const Level& level) { return level.name == name; });
  if (name == "ppr")
    refuse(option,
           "name the hosts with their numbers of ranks, --hosts a:2,b:2, or deal out ranks in turn "
           "by --map-by package, core, ...");
  if (found == kLevels.end())
    refuse(option,
           "no such level; there are hwthread, core, l3cache, numa and package, also slot "
           "and node for --map-by, none for --bind-to");
  if (objects_of(topology, *found).empty())
    refuse(option, fmt::format("hwloc knows no {} of this machine (lstopo shows what it knows); "
                               "choose another level",
                               found->kind));
  return *found;
}

// Reads "pe=2". Returns the number.
unsigned cores_per_rank(std::string_view qualifier, const std::string& option) {
  if (qualifier == "oversubscribe")
    refuse(option, "leave :oversubscribe out; there may always be more ranks than cores");
  unsigned count = 0;
  if (qualifier.starts_with(kCoresPerRank)) {
    qualifier.remove_prefix(kCoresPerRank.size());
    const char* const end = qualifier.data() + qualifier.size();
    const auto [rest, error] = std::from_chars(qualifier.data(), end, count);
    if (rest != end || error != std::errc()) count = 0;
  }
  if (count == 0) refuse(option, "behind the level there may only be :PE=n, n cores for each rank");
  return count;
}

Plan default_plan(hwloc_topology_t topology, uint32_t ranks) {
  Plan plan;
  plan.bind = ranks > 2 ? kNuma : kCore;
  if (ranks > 2 && !objects_of(topology, kNuma).empty()) plan.map = kNuma;
  return plan;
}

void apply_map_by(const std::string& text, hwloc_topology_t topology, Plan& plan) {
  const Value value(text);
  const std::string option = "--map-by " + text;
  plan.map = value.name.empty() ? kMachine : level_named(topology, value.name, option);
  if (plan.map.type != HWLOC_OBJ_MACHINE) plan.bind = plan.map;
  if (value.qualifier.empty()) return;
  plan.objects_per_rank = cores_per_rank(value.qualifier, option);
  plan.bind = level_named(topology, "core", option);
  plan.asked_by = option;
  plan.allows_overload = false;
  // Several objects do not fit into one of their own kind: they are dealt out one after another.
  if (is_single(plan.map)) plan.map = kMachine;
}

void apply_bind_to(const std::string& text, hwloc_topology_t topology, Plan& plan) {
  const Value value(text);
  const std::string option = "--bind-to " + text;
  if (!value.qualifier.empty() && value.qualifier != kOverload)
    refuse(option, fmt::format("behind the level there may only be :{}; several cores for each "
                               "rank: --map-by slot:PE=n",
                               kOverload));
  plan.bind.reset();
  if (value.name != "none") plan.bind = level_named(topology, value.name, option);
  if (plan.bind && plan.bind->type == HWLOC_OBJ_MACHINE)
    refuse(option, "this is the whole machine; say --bind-to none");
  if (!plan.asked_by.empty() && (!plan.bind || !is_single(*plan.bind)))
    refuse(option, "leave it out: with PE=n of --map-by each rank is bound to n cores");
  plan.asked_by = option;
  plan.allows_overload = value.qualifier == kOverload;
}

Plan plan_of(hwloc_topology_t topology, const BindingOptions& options, uint32_t ranks) {
  Plan plan = default_plan(topology, ranks);
  if (!options.map_by.empty()) apply_map_by(options.map_by, topology, plan);
  if (!options.bind_to.empty()) apply_bind_to(options.bind_to, topology, plan);
  const bool is_default = plan.asked_by.empty();
  if (is_default &&
      (ranks > objects_of(topology, kCore).size() || objects_of(topology, *plan.bind).empty()))
    plan.bind.reset();
  return plan;
}

// How many ranks are bound to each object so far.
using Load = std::map<hwloc_obj_t, unsigned>;

// Returns those of `objects` in or around `place` that have the fewest ranks, as many as the plan
// gives to a rank, and counts this rank there.
std::vector<hwloc_obj_t> least_loaded(const Plan& plan, const std::vector<hwloc_obj_t>& objects,
                                      hwloc_obj_t place, Load& load) {
  std::vector<hwloc_obj_t> candidates;
  std::copy_if(objects.begin(), objects.end(), std::back_inserter(candidates), [&](hwloc_obj_t o) {
    return hwloc_bitmap_intersects(o->cpuset, place->cpuset) != 0;
  });
  if (candidates.size() < plan.objects_per_rank)
    refuse(plan.asked_by, fmt::format("the {} has too few {}s for one rank: {}", plan.map.kind,
                                      plan.bind->kind, candidates.size()));
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](hwloc_obj_t a, hwloc_obj_t b) { return load[a] < load[b]; });
  candidates.resize(plan.objects_per_rank);
  for (const hwloc_obj_t object : candidates) ++load[object];
  return candidates;
}

class Bitmap {
 public:
  Bitmap() : bitmap_(hwloc_bitmap_alloc()) {}
  ~Bitmap() { hwloc_bitmap_free(bitmap_); }
  Bitmap(const Bitmap&) = delete;
  hwloc_bitmap_t get() const { return bitmap_; }

 private:
  hwloc_bitmap_t bitmap_;
};

std::string text_of(hwloc_const_bitmap_t set) {
  char* text = nullptr;
  hwloc_bitmap_list_asprintf(&text, set);
  const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
  return text != nullptr ? text : "";
}

}  // namespace

Topology::Topology() {
  hwloc_topology_init(&topology_);
  hwloc_topology_set_flags(
      topology_, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  if (hwloc_topology_load(topology_) == 0) return;
  hwloc_topology_destroy(topology_);
  base::throw_errno("hwloc cannot read the topology of this machine");
}

Binding::Binding(const Topology& topology, const BindingOptions& options, uint32_t ranks)
    : topology_(topology.get()), objects_(ranks) {
  const Plan plan = plan_of(topology_, options, ranks);
  if (!plan.bind) return;
  kind_ = plan.bind->kind;
  const std::vector<hwloc_obj_t> places = objects_of(topology_, plan.map);
  const std::vector<hwloc_obj_t> objects = objects_of(topology_, *plan.bind);
  Load load;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    objects_[rank] = least_loaded(plan, objects, places[rank % places.size()], load);
    for (const hwloc_obj_t object : objects_[rank])
      if (load[object] > room_of(topology_, object) && !plan.allows_overload)
        refuse(plan.asked_by,
               fmt::format("there are more ranks than cores; take fewer, or say --bind-to {}:{}",
                           plan.bind->name, kOverload));
  }
}

std::optional<cpu_set_t> Binding::cpus_of(uint32_t rank) const {
  if (objects_[rank].empty()) return std::nullopt;
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const hwloc_obj_t object : objects_[rank]) {
    unsigned cpu;
    hwloc_bitmap_foreach_begin(cpu, object->cpuset) CPU_SET(cpu, &cpus);
    hwloc_bitmap_foreach_end();
  }
  return cpus;
}

std::string Binding::list_of(uint32_t rank) const {
  const Bitmap cpus;
  for (const hwloc_obj_t object : objects_[rank])
    hwloc_bitmap_or(cpus.get(), cpus.get(), object->cpuset);
  return text_of(cpus.get());
}

std::string Binding::report_of(uint32_t rank) const {
  const std::string who = fmt::format("rank {} of {}: ", rank, objects_.size());
  const std::vector<hwloc_obj_t>& objects = objects_[rank];
  if (objects.empty())
    return who + fmt::format("not bound (processors {})",
                             text_of(hwloc_topology_get_topology_cpuset(topology_)));
  const Bitmap numbers;
  for (const hwloc_obj_t object : objects) hwloc_bitmap_set(numbers.get(), object->logical_index);
  return who + fmt::format("{}{} {} (processors {})", kind_, objects.size() > 1 ? "s" : "",
                           text_of(numbers.get()), list_of(rank));
}

}  // namespace nagaya::tools
