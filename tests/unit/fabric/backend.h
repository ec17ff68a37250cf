// SPDX-License-Identifier: BSD-3-Clause
// backend.h - the implementations of the contract, each to be tested alike.
#pragma once

#include <cstdlib>

#include "fabric/libfabric.h"
#include "fabric/loopback.h"
#include "fabric/world.h"

namespace nagaya::fabric {

struct Backend {
  const char* name;
  World::Endpoints (*open)(unsigned nodes);
};

inline World::Endpoints open_loopback(unsigned nodes) {
  LoopbackNetwork network(nodes);
  return open_all(network, nodes);
}

// Over 127.0.0.1.
inline World::Endpoints open_libfabric_here(unsigned nodes) {
  ::setenv("FI_TCP_IFACE", "lo", 0);
  World::Endpoints endpoints;
  std::vector<std::string> addresses;
  for (Node node = 0; node < nodes; ++node) {
    endpoints.push_back(create_libfabric());
    addresses.push_back(endpoints.back()->address());
  }
  for (Node node = 0; node < nodes; ++node) endpoints[node]->connect(addresses, node);
  return endpoints;
}

inline constexpr Backend kBackends[] = {{"loopback", open_loopback},
                                        {"libfabric", open_libfabric_here}};

}  // namespace nagaya::fabric
