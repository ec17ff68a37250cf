// SPDX-License-Identifier: BSD-3-Clause
// connections.h - ends the TCP connections to one peer of an endpoint, below its provider: for
// providers that keep them when the peer's address is removed. They then find them broken, and fail
// what is pending.
#pragma once

#include <string>

namespace nagaya::fabric {

// Addresses as fi_getname() gives them; of other kinds than IPv4 and IPv6 nothing happens. Which
// peer has come from an IP address is not to be seen: all that have come from the peer's are ended.
void end_connections(const std::string& own, const std::string& peer) noexcept;

}  // namespace nagaya::fabric
