// SPDX-License-Identifier: BSD-3-Clause
// network.cc - the network's limits for a job on several nodes, and its delegatees.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "base/error.h"
#include "delegatee/options.h"
#include "delegatee/placement.h"
#include "doctor/doctor.h"
#include "fabric/module.h"

namespace nagaya::tools::doctor {

namespace {

constexpr char kDevices[] = "NAGAYA_NETWORK_DEVICES", kDelegatees[] = "NAGAYA_DELEGATEES";

void choose_by_environment(delegatee::Options& options, const char* name) {
  const char* const value = std::getenv(name);
  if (value != nullptr) choose(options, fmt::format("{}={}", name, value));
}

}  // namespace

// Opens the network as a host does: with the provider that FI_PROVIDER names, on each device that
// NAGAYA_NETWORK_DEVICES names.
Finding network(const Need&) try {
  delegatee::Options options;
  choose_by_environment(options, kDevices);
  const auto fabric = fabric::open_libfabric(device_of(options, 0));
  for (uint32_t n = 1; n < options.devices.size(); ++n)
    fabric::open_libfabric(device_of(options, n));
  const std::string provider = std::getenv("FI_PROVIDER");
  const std::string where =
      options.devices.empty() ? "" : fmt::format(" on {}", fmt::join(options.devices, " and "));
  if (fabric->keys_are_secret())
    return {Level::kOk,
            fmt::format("nodes are joined by libfabric's provider {}{}, with random keys for the "
                        "memory that they read and write",
                        provider, where),
            ""};
  return {
      Level::kWarning,
      fmt::format("libfabric's provider {}{} chooses the keys for memory that nodes read and "
                  "write: strangers who reach this node's network may guess them",
                  provider, where),
      "jobs on several nodes only on a network that strangers do not reach, or FI_PROVIDER=net"};
} catch (const base::Error& error) {
  return {Level::kWarning, fmt::format("jobs on several nodes cannot run here: {}", error.what()),
          "install libfabric, bring a network up, or name its devices; jobs on one node need none"};
}

// Chooses the number of delegatees as a host does.
Finding delegatees(const Need& need) try {
  delegatee::Options options;
  choose_by_environment(options, kDelegatees);
  choose_by_environment(options, kDevices);
  if (options.delegatees != 0)
    return {
        Level::kOk,
        fmt::format("jobs on several nodes have {} here, by {}", options.delegatees, kDelegatees),
        ""};
  const delegatee::Delegation chosen =
      delegatee::Placement().delegation(static_cast<uint32_t>(need.tasks));
  const uint32_t for_devices = delegatees_for(options);
  if (for_devices > chosen.delegatees)
    return {Level::kOk,
            fmt::format("jobs on several nodes have {} here, for the {} devices of {}", for_devices,
                        options.devices.size(), kDevices),
            ""};
  return {Level::kOk,
          fmt::format("jobs on several nodes have {} here: one for each of {} memory domains or {} "
                      "of {} cores, and for {} of {} tasks; {} can say another number",
                      chosen.delegatees, chosen.domains, delegatee::Placement::kCoresEach,
                      chosen.cores, delegatee::Placement::kTasksEach, need.tasks, kDelegatees),
          ""};
} catch (const base::Error& error) {
  return {Level::kProblem, fmt::format("jobs on several nodes are refused: {}", error.what()),
          "set the variable that it names to such a value, or unset it"};
}

}  // namespace nagaya::tools::doctor
