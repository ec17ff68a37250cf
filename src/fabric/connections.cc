// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/connections.h"

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace nagaya::fabric {
namespace {

struct Address {
  sockaddr_storage address{};

  Address() = default;
  explicit Address(const std::string& bytes) {
    std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof address));
  }

  bool is_ip() const { return address.ss_family == AF_INET || address.ss_family == AF_INET6; }
  std::string_view ip() const {
    if (address.ss_family == AF_INET6) return bytes_of(v6().sin6_addr);
    return bytes_of(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  }
  in_port_t port() const {
    if (address.ss_family == AF_INET6) return v6().sin6_port;
    return reinterpret_cast<const sockaddr_in&>(address).sin_port;
  }
  bool has_ip_of(const Address& other) const {
    return address.ss_family == other.address.ss_family && ip() == other.ip();
  }

 private:
  const sockaddr_in6& v6() const { return reinterpret_cast<const sockaddr_in6&>(address); }
  template <typename Ip>
  static std::string_view bytes_of(const Ip& ip) {
    return {reinterpret_cast<const char*>(&ip), sizeof ip};
  }
};

using NameCall = int(int, sockaddr*, socklen_t*) noexcept;

bool find(NameCall* call, int fd, Address& address) {
  socklen_t bytes = sizeof address.address;
  return call(fd, reinterpret_cast<sockaddr*>(&address.address), &bytes) == 0 && address.is_ip();
}

bool leads_to(const Address& own, const Address& peer, int fd) {
  Address here, there;
  if (!find(::getpeername, fd, there) || !there.has_ip_of(peer)) return false;
  const bool went_there = there.port() == peer.port();
  return went_there || (find(::getsockname, fd, here) && here.port() == own.port());
}

}  // namespace

void end_connections(const std::string& own_address, const std::string& peer_address) noexcept {
  const Address own(own_address), peer(peer_address);
  if (!own.is_ip() || !peer.is_ip()) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(::opendir("/proc/self/fd"), ::closedir);
  if (descriptors == nullptr) return;
  while (const dirent* entry = ::readdir(descriptors.get())) {
    const int fd = std::atoi(entry->d_name);
    // Only the provider, in the caller's thread, closes such a socket: `fd` still names it.
    if (leads_to(own, peer, fd)) ::shutdown(fd, SHUT_RDWR);
  }
}

}  // namespace nagaya::fabric
