// SPDX-License-Identifier: BSD-3-Clause
// network.cc - the network's limits for a job on several nodes.
#include <fmt/core.h>

#include <cstdlib>

#include "base/error.h"
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

}  // namespace nagaya::tools::doctor
