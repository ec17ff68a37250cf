// SPDX-License-Identifier: BSD-3-Clause
// network.cc - the network's limits for a job on several nodes, and its delegatees.
#include <fmt/core.h>

#include <cstdlib>

#include "base/error.h"
#include "delegatee/options.h"
#include "delegatee/placement.h"
#include "doctor/doctor.h"
#include "fabric/module.h"

namespace nagaya::tools::doctor {

// Opens the network as a host does, with the provider that FI_PROVIDER names.
Finding network(const Need&) try {
  const auto fabric = fabric::open_libfabric();
  const std::string provider = std::getenv("FI_PROVIDER");
  if (fabric->keys_are_secret())
    return {Level::kOk,
            fmt::format("nodes are joined by libfabric's provider {}, with random keys for the "
                        "memory that they read and write",
                        provider),
            ""};
  return {
      Level::kWarning,
      fmt::format("libfabric's provider {} chooses the keys for memory that nodes read and "
                  "write: strangers who reach this node's network may guess them",
                  provider),
      "jobs on several nodes only on a network that strangers do not reach, or FI_PROVIDER=net"};
} catch (const base::Error& error) {
  return {Level::kWarning, fmt::format("jobs on several nodes cannot run here: {}", error.what()),
          "install libfabric, or bring a network up; jobs on one node need neither"};
}

// Chooses the number of delegatees as a host does.
Finding delegatees(const Need& need) try {
  delegatee::Options options;
  const char* const wish = std::getenv("NAGAYA_DELEGATEES");
  if (wish != nullptr) choose(options, fmt::format("NAGAYA_DELEGATEES={}", wish));
  if (options.delegatees != 0)
    return {
        Level::kOk,
        fmt::format("jobs on several nodes have {} here, by NAGAYA_DELEGATEES", options.delegatees),
        ""};
  const delegatee::Delegation chosen =
      delegatee::Placement().delegation(static_cast<uint32_t>(need.tasks));
  return {
      Level::kOk,
      fmt::format("jobs on several nodes have {} here: one for each of {} memory domains or {} "
                  "of {} cores, and for {} of {} tasks; NAGAYA_DELEGATEES can say another number",
                  chosen.delegatees, chosen.domains, delegatee::Placement::kCoresEach, chosen.cores,
                  delegatee::Placement::kTasksEach, need.tasks),
      ""};
} catch (const base::Error& error) {
  return {Level::kProblem, fmt::format("jobs on several nodes are refused: {}", error.what()),
          "unset NAGAYA_DELEGATEES"};
}

}  // namespace nagaya::tools::doctor
