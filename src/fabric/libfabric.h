// SPDX-License-Identifier: BSD-3-Clause
// libfabric.h - the contract by libfabric: one RDM endpoint, one completion queue.
//
// What libfabric leaves open, and what stands here for it:
//   one event per cookie    every operation asks for a completion; a slot remembers its cookie
//   a link that breaks      ofi_rxm would connect again in silence, messages in between are lost:
//                           here the peer is dead from its first error, or when it no longer takes
//                           anything though nothing is pending (a gap: delegatee/proof.h)
//   who may use a region    keys are random, where the provider takes the caller's
//   what it never answers   is failed here, kGrace after the peer's death
#pragma once

#include <memory>

#include "fabric/fabric.h"

namespace nagaya::fabric {

std::unique_ptr<Fabric> create_libfabric();

}  // namespace nagaya::fabric
