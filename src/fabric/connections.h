// SPDX-License-Identifier: BSD-3-Clause
// connections.h - ends the TCP connections of an endpoint to one peer, below libfabric's provider:
// for providers that keep connections when the peer's address is removed. The provider then finds
// them broken, and fails the pending operations.
#pragma once

#include <string>

namespace nagaya::fabric {

// Takes addresses as fi_getname() gives them; does nothing for others than IPv4 and IPv6. An
// accepted connection shows only the IP address that it came from, not the peer: all that have come
// from the peer's IP address are ended.
void end_connections(const std::string& own, const std::string& peer) noexcept;

}  // namespace nagaya::fabric
