// SPDX-License-Identifier: BSD-3-Clause
// remote_region_cache.h - the fabric's names of other nodes' regions, which those nodes have told,
// and whether this node still uses them. While this node uses a region, its owner keeps it
// registered, and a stranger that learns its key can use it, too.
//
//   unknown -> asked    acquire: a transfer needs the region
//   asked   -> known    set_region: the node has told
//   known   -> asked    forget: the region has ended, or a transfer failed
//   any     -> unknown  nobody uses it: if asked, at once; if known, when it was not used between
//                       two calls of evict_unused
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "fabric/fabric.h"
#include "llcl/board/command.h"

namespace nagaya::delegatee {

class RemoteRegionCache {
 public:
  struct Name {
    fabric::Node node;
    uint32_t task, region;

    auto operator<=>(const Name&) const = default;
  };
  // The region that a command reads or writes.
  static Name name_of(const llcl::Command& command) {
    return {command.node, command.task, command.region};
  }

  // Called when a transfer begins to need the region, which it does until release(). Returns the
  // fabric's name of the region; nullptr: the caller has to ask the node for it.
  const fabric::Region* acquire(const Name& name) {
    Entry& entry = entries_[name];
    ++entry.users;
    entry.was_used = true;
    return entry.region ? &*entry.region : nullptr;
  }
  void release(const Name& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;  // its node has failed
    found->second.was_used = true;
    if (--found->second.users == 0 && !found->second.region) entries_.erase(found);
  }
  // Stores the fabric's name of a region that a transfer uses.
  void set_region(const Name& name, const fabric::Region& region) {
    entries_[name].region = region;
  }
  void forget(const Name& name) {
    const auto found = entries_.find(name);
    if (found == entries_.end()) return;
    found->second.region.reset();
    if (found->second.users == 0) entries_.erase(found);
  }
  void forget(fabric::Node node) {
    std::erase_if(entries_, [&](const auto& entry) { return entry.first.node == node; });
  }
  // Calls tell(name) for each region that was not used since the last call, and forgets the region
  // if tell returns true.
  template <class Tell>
  void evict_unused(Tell tell) {
    for (auto at = entries_.begin(); at != entries_.end();) {
      auto& [name, known] = *at;
      const bool was_used = std::exchange(known.was_used, false);
      const bool goes = known.users == 0 && !was_used && tell(name);
      at = goes ? entries_.erase(at) : std::next(at);
    }
  }
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    std::optional<fabric::Region> region;
    uint32_t users = 0;
    bool was_used = false;
  };

  std::map<Name, Entry> entries_;
};

}  // namespace nagaya::delegatee
