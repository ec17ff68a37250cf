// SPDX-License-Identifier: BSD-3-Clause
// peer_process.h - node 1 of two in a process of its own, which can be stopped and killed.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "fabric/backend.h"

namespace nagaya::fabric {

// The other end sends every message back, and has memory to be read and written.
class PeerProcess {
 public:
  static constexpr size_t kMemoryBytes = 1 << 20;

  PeerProcess() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      base::throw_errno("socketpair");
    wire_ = base::Fd(ends[0]);
    pid_ = ::fork();
    if (pid_ == 0) be_the_peer(base::Fd(ends[1]));
    ::setpgid(pid_, pid_);  // it stops: see docs/bugs.md, the group that was hung up
    ::close(ends[1]);
  }
  ~PeerProcess() { kill(); }

  // Node 0, connected with it.
  World connected() {
    ::setenv("FI_TCP_IFACE", "lo", 0);
    World::Endpoints endpoints;
    endpoints.push_back(create_libfabric());
    const std::string own = endpoints[0]->address();
    const std::string its = exchange(wire_.get(), own);
    endpoints[0]->connect(std::vector{own, its}, 0);
    EXPECT_EQ(::read(wire_.get(), &region_, sizeof region_), ssize_t{sizeof region_});
    return World(std::move(endpoints));
  }

  const Region& region() const { return region_; }
  void stop() const { ::kill(pid_, SIGSTOP); }
  void go_on() const { ::kill(pid_, SIGCONT); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  static std::string exchange(int wire, const std::string& own) {
    char its[256];
    EXPECT_EQ(::write(wire, own.data(), own.size()), static_cast<ssize_t>(own.size()));
    const ssize_t bytes = ::read(wire, its, sizeof its);
    EXPECT_GT(bytes, 0);
    return {its, static_cast<size_t>(std::max<ssize_t>(bytes, 0))};
  }

  [[noreturn]] static void be_the_peer(base::Fd wire) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setenv("FI_TCP_IFACE", "lo", 0);
    const std::unique_ptr<Fabric> fabric = create_libfabric();
    const std::string own = fabric->address();
    const std::string its = exchange(wire.get(), own);
    fabric->connect(std::vector{its, own}, 1);
    std::vector<char> memory(kMemoryBytes, 'p');
    const Region region = fabric->register_memory(memory.data(), memory.size());
    if (::write(wire.get(), &region, sizeof region) < 0) ::_exit(1);
    std::deque<std::string> echoes;
    for (size_t sent = 0;;) {
      Event events[8];
      const size_t count = fabric->poll(events);
      for (size_t i = 0; i < count; ++i)
        if (events[i].kind == Event::Kind::kReceived)
          echoes.emplace_back(reinterpret_cast<const char*>(events[i].data), events[i].bytes);
      while (sent < echoes.size() &&
             fabric->try_send(0, echoes[sent].data(), echoes[sent].size(), sent))
        ++sent;
      std::vector<pollfd> descriptors;
      if (sent == echoes.size() && fabric->may_sleep(descriptors))
        ::poll(descriptors.data(), descriptors.size(), 1000);
    }
  }

  base::Fd wire_;
  pid_t pid_ = 0;
  Region region_{};
};

}  // namespace nagaya::fabric
