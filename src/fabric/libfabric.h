// SPDX-License-Identifier: BSD-3-Clause
// libfabric.h - the Fabric (fabric.h) over libfabric: one RDM endpoint, one completion queue.
//
// fabric.h promises more than libfabric does. This file adds:
//   one event per cookie    every operation asks for a completion; a slot remembers its cookie
//   a link that breaks      ofi_rxm would connect again in silence, messages in between are lost:
//                           here the peer is dead from its first error, or when it no longer takes
//                           anything though nothing is pending (a gap: delegatee/proof.h)
//   secret regions          keys are random, where the provider takes the caller's
//   lost operations         operations that libfabric never completes fail kGrace after the peer's
//                           death
#pragma once

#include <memory>
#include <string>

#include "fabric/fabric.h"

namespace nagaya::fabric {

// On that network device; "": on the one that libfabric names first. Throws base::Error.
std::unique_ptr<Fabric> create_libfabric(const std::string& device = "");

}  // namespace nagaya::fabric
