// SPDX-License-Identifier: BSD-3-Clause
// introduction.h - makes the World of a job from its processes, for nagaya_comm_init.
//
// One node: each task writes its number into its rank's slot of the window (world.h), and the last
// one to come describes the world. No launcher is asked. A task that fails says so in the world:
// all fail with its reason.
//
// Several nodes. A task that fails publishes why, and goes on to the next fence: all fail with that
// reason, and nobody waits for one that has failed.
//
// The speaker of a node is the task that asks the host and publishes for the whole node.
//
//   speaker     the contact of our delegatee? ──► host       (opens libfabric)
//   all tasks   publish a card                                       ── fence ──
//   speaker     reads all cards; contacts ──► host (connects); publishes whether it could
//   all tasks                                                        ── fence ──
//   speaker     reads what the other speakers have published; the world is ready, or has failed
#pragma once

#include "bootstrap/meeting.h"
#include "bootstrap/world.h"
#include "llcl/requests/endpoint.h"

namespace nagaya::bootstrap {

// Returns the world of the job, ready. Collective; throws base::Error.
World& make_world_of_job(llcl::Endpoint& endpoint, const Launched& launched);

}  // namespace nagaya::bootstrap
