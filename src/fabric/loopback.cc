// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/loopback.h"

#include <sys/eventfd.h>

#include <deque>
#include <map>
#include <mutex>
#include <random>

#include "base/error.h"
#include "base/fd.h"
#include "base/random.h"
#include "fabric/misuse.h"

namespace nagaya::fabric {
namespace {

constexpr size_t kMessageMaxBytes = 32 << 10;
constexpr size_t kInjectMaxBytes = 64;  // up to here a message is copied when it is accepted

using Bytes = std::vector<std::byte>;

struct Operation {
  Event::Kind kind;  // of the event at `from`
  Node from;
  Node to;
  uint64_t cookie;
  std::byte* local;  // never written for kSent and kWritten
  size_t bytes;
  Region region;
  uint64_t offset;

  uint64_t due;      // the number of the target's poll that may carry it out
  bool is_reported;  // its event has come already
  Bytes copy;
};

struct Report {
  Event event;
  Bytes data;
};

struct Link {
  std::deque<Operation> operations;  // as accepted
  bool is_cut = false;
  bool is_paused = false;
};

struct Endpoint {
  std::deque<Report> reports;
  std::map<uint64_t, Region> regions;  // by key
  uint64_t polls = 0;
  base::Fd bell;             // an eventfd: readable while `may_sleep` and `is_rung`
  bool may_sleep = false;    // may_sleep() returned true, and no poll came since
  bool is_rung = false;      // since its latest poll
  bool was_refused = false;  // by the plan: nothing will ring when trying again is worth it
};

}  // namespace

class LoopbackNetwork::State {
 public:
  State(unsigned nodes, const FaultPlan& plan)
      : plan_(plan), random_(plan.seed), endpoints_(nodes), links_(nodes * nodes) {
    for (Endpoint& endpoint : endpoints_)
      endpoint.bell = base::checked_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
  }

  size_t nodes() const { return endpoints_.size(); }

  bool try_start(Operation operation) {
    const std::lock_guard lock(mutex_);
    Endpoint& self = endpoints_[operation.from];
    if (draw(100) < plan_.refuse_percent) return !(self.was_refused = true);
    const int error = misuse_of(operation);
    Link* link = error == 0 ? &link_of(operation.from, operation.to) : nullptr;
    if (self.reports.size() >= plan_.room || (link && link->operations.size() >= plan_.room))
      return false;
    if (error != 0)
      finish(operation, error);
    else if (link->is_cut)
      finish(operation, -ECONNRESET);
    else if (draw(100) < plan_.lose_percent)
      finish(operation, -EIO);
    else
      enqueue(*link, std::move(operation));
    return true;
  }

  Region register_memory(Node node, void* base, size_t bytes) {
    const std::lock_guard lock(mutex_);
    Endpoint& self = endpoints_[node];
    const Region region{reinterpret_cast<uint64_t>(base), bytes, base::random_number()};
    return self.regions[region.key] = region;
  }

  size_t registered(Node node) {
    const std::lock_guard lock(mutex_);
    return endpoints_[node].regions.size();
  }

  void deregister(Node node, const Region& region) {
    const std::lock_guard lock(mutex_);
    endpoints_[node].regions.erase(region.key);
  }

  // Moves up to `count` reports to `shown`.
  void poll(Node node, size_t count, std::vector<Report>& shown) {
    const std::lock_guard lock(mutex_);
    Endpoint& self = endpoints_[node];
    quiet(self);
    ++self.polls;
    for (Node offset = 0; offset < nodes(); ++offset)  // the link that comes first changes
      carry_out(link_of((self.polls + offset) % nodes(), node), count);
    while (shown.size() < count && !self.reports.empty()) {
      shown.push_back(std::move(self.reports.front()));
      self.reports.pop_front();
    }
  }

  bool may_sleep(Node node, std::vector<pollfd>& descriptors) {
    const std::lock_guard lock(mutex_);
    Endpoint& self = endpoints_[node];
    if (std::exchange(self.was_refused, false) || self.is_rung || !self.reports.empty())
      return false;
    for (Node from = 0; from < nodes(); ++from)
      if (const Link& link = link_of(from, node); !link.is_paused && !link.operations.empty())
        return false;
    descriptors.push_back({self.bell.get(), POLLIN, 0});
    return self.may_sleep = true;
  }

  void cut(Node a, Node b) {
    const std::lock_guard lock(mutex_);
    cut_one_way(a, b);
    cut_one_way(b, a);
  }

  void pause(Node a, Node b, bool is_paused) {
    const std::lock_guard lock(mutex_);
    link_of(a, b).is_paused = link_of(b, a).is_paused = is_paused;
    ring(endpoints_[a]);
    ring(endpoints_[b]);
  }

 private:
  uint64_t draw(uint64_t end) { return random_() % end; }
  Link& link_of(Node from, Node to) { return links_[from * nodes() + to]; }

  int misuse_of(const Operation& operation) const {
    if (operation.kind == Event::Kind::kSent)
      return message_misuse(operation.to, nodes(), operation.bytes, kMessageMaxBytes);
    return access_misuse(operation.to, nodes(), operation.bytes, operation.region,
                         operation.offset);
  }

  void enqueue(Link& link, Operation&& operation) {
    Endpoint& target = endpoints_[operation.to];
    operation.due = target.polls + draw(plan_.delay_polls_max + 1);
    if (operation.kind == Event::Kind::kSent && operation.bytes <= kInjectMaxBytes) {
      operation.copy.assign(operation.local, operation.local + operation.bytes);
      finish(operation, 0);
      operation.is_reported = true;
    }
    link.operations.push_back(std::move(operation));
    ring(target);
  }

  void carry_out(Link& link, size_t reports_max) {
    if (link.is_paused || link.operations.empty()) return;
    bool messages_wait = false;
    for (Operation& operation : std::exchange(link.operations, {}))
      if (!carry_out(operation, reports_max, messages_wait))
        link.operations.push_back(std::move(operation));
  }

  // A message waits for earlier messages, and for room among the reports of its receiver.
  bool carry_out(Operation& operation, size_t reports_max, bool& messages_wait) {
    Endpoint& target = endpoints_[operation.to];
    const bool is_message = operation.kind == Event::Kind::kSent;
    const bool is_due = operation.due <= target.polls;
    if (is_message) messages_wait |= !is_due || target.reports.size() >= reports_max;
    if (is_message ? messages_wait : !is_due) return false;
    finish(operation, is_message ? deliver(operation, target) : access(operation, target));
    return true;
  }

  int deliver(Operation& operation, Endpoint& target) {
    if (!operation.is_reported)
      operation.copy.assign(operation.local, operation.local + operation.bytes);
    const Event event{Event::Kind::kReceived, 0, kUnknownNode, 0, nullptr, operation.bytes};
    target.reports.push_back({event, std::move(operation.copy)});
    return 0;
  }

  int access(const Operation& operation, const Endpoint& target) {
    const auto found = target.regions.find(operation.region.key);
    if (found == target.regions.end() ||
        access_misuse(operation.to, nodes(), operation.bytes, found->second, operation.offset) != 0)
      return -EACCES;
    auto* remote = reinterpret_cast<std::byte*>(found->second.base) + operation.offset;
    if (operation.bytes == 0) return 0;
    if (operation.kind == Event::Kind::kRead)
      std::memmove(operation.local, remote, operation.bytes);
    else
      std::memmove(remote, operation.local, operation.bytes);
    return 0;
  }

  // Also rings for an operation that was reported before: there is room again.
  void finish(const Operation& operation, int error) {
    Endpoint& self = endpoints_[operation.from];
    if (!operation.is_reported)
      self.reports.push_back(
          {{operation.kind, error, operation.to, operation.cookie, nullptr, 0}, {}});
    ring(self);
  }

  void cut_one_way(Node from, Node to) {
    Link& link = link_of(from, to);
    link.is_cut = true;
    for (const Operation& operation : std::exchange(link.operations, {}))
      finish(operation, -ECONNRESET);
  }

  void ring(Endpoint& endpoint) {
    if (!std::exchange(endpoint.is_rung, true) && endpoint.may_sleep)
      ::eventfd_write(endpoint.bell.get(), 1);
  }

  void quiet(Endpoint& endpoint) {
    eventfd_t count;
    if (std::exchange(endpoint.is_rung, false) && endpoint.may_sleep)
      ::eventfd_read(endpoint.bell.get(), &count);
    endpoint.may_sleep = false;
  }

  const FaultPlan plan_;
  std::mutex mutex_;  // everything below
  std::mt19937_64 random_;
  std::vector<Endpoint> endpoints_;
  std::vector<Link> links_;
};

namespace {

class LoopbackEndpoint : public Fabric {
 public:
  LoopbackEndpoint(std::shared_ptr<LoopbackNetwork::State> state, Node self)
      : state_(std::move(state)), self_(self) {}
  ~LoopbackEndpoint() override {
    for (Node node = 0; node < state_->nodes(); ++node) state_->cut(self_, node);
  }

  std::string address() const override { return "loopback " + std::to_string(self_); }

  void connect(std::span<const std::string> addresses, Node self) override {
    bool fits = self == self_ && addresses.size() == state_->nodes();
    for (Node node = 0; fits && node < addresses.size(); ++node)
      fits = addresses[node] == "loopback " + std::to_string(node);
    if (!fits)
      throw base::Error(-EINVAL, "cannot connect: not the addresses of this loopback network");
  }

  size_t message_max_bytes() const override { return kMessageMaxBytes; }

  bool try_send(Node node, const void* data, size_t bytes, uint64_t cookie) override {
    return try_start(Event::Kind::kSent, node, data, bytes, {}, 0, cookie);
  }
  bool try_read(Node node, void* to, size_t bytes, const Region& from, uint64_t offset,
                uint64_t cookie) override {
    return try_start(Event::Kind::kRead, node, to, bytes, from, offset, cookie);
  }
  bool try_write(Node node, const void* from, size_t bytes, const Region& to, uint64_t offset,
                 uint64_t cookie) override {
    return try_start(Event::Kind::kWritten, node, from, bytes, to, offset, cookie);
  }

  void give_up(Node node) override { state_->cut(self_, node); }

  Region register_memory(void* base, size_t bytes) override {
    return state_->register_memory(self_, base, bytes);
  }
  void deregister(const Region& region) override { state_->deregister(self_, region); }

  bool keys_are_secret() const override { return true; }

  size_t poll(std::span<Event> events) override {
    shown_.clear();
    state_->poll(self_, events.size(), shown_);
    for (size_t i = 0; i < shown_.size(); ++i) {
      events[i] = shown_[i].event;
      events[i].data = shown_[i].data.data();
    }
    return shown_.size();
  }

  bool may_sleep(std::vector<pollfd>& descriptors) override {
    return state_->may_sleep(self_, descriptors);
  }

 private:
  bool try_start(Event::Kind kind, Node node, const void* local, size_t bytes, const Region& region,
                 uint64_t offset, uint64_t cookie) {
    auto* bytes_of_local = static_cast<std::byte*>(const_cast<void*>(local));
    return state_->try_start(
        {kind, self_, node, cookie, bytes_of_local, bytes, region, offset, 0, false, {}});
  }

  const std::shared_ptr<LoopbackNetwork::State> state_;
  const Node self_;
  std::vector<Report> shown_;  // by the latest poll: its events point into it
};

}  // namespace

LoopbackNetwork::LoopbackNetwork(unsigned nodes, const FaultPlan& plan)
    : state_(std::make_shared<State>(nodes, plan)) {}
LoopbackNetwork::~LoopbackNetwork() = default;

std::unique_ptr<Fabric> LoopbackNetwork::open(Node node) {
  return std::make_unique<LoopbackEndpoint>(state_, node);
}

void LoopbackNetwork::cut_link(Node a, Node b) {
  state_->cut(a, b);
}
void LoopbackNetwork::pause_link(Node a, Node b) {
  state_->pause(a, b, true);
}
void LoopbackNetwork::resume_link(Node a, Node b) {
  state_->pause(a, b, false);
}

size_t LoopbackNetwork::registered(Node node) const {
  return state_->registered(node);
}

void LoopbackNetwork::cut_endpoint(Node node) {
  for (Node other = 0; other < state_->nodes(); ++other) state_->cut(node, other);
}

std::vector<std::unique_ptr<Fabric>> open_all(LoopbackNetwork& network, unsigned nodes) {
  std::vector<std::unique_ptr<Fabric>> endpoints;
  std::vector<std::string> addresses;
  for (Node node = 0; node < nodes; ++node) {
    endpoints.push_back(network.open(node));
    addresses.push_back(endpoints.back()->address());
  }
  for (Node node = 0; node < nodes; ++node) endpoints[node]->connect(addresses, node);
  return endpoints;
}

}  // namespace nagaya::fabric
