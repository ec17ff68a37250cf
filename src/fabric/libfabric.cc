// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/libfabric.h"

#include <rdma/fi_rma.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>

#include "base/error.h"
#include "base/fd.h"
#include "base/random.h"
#include "fabric/connections.h"
#include "fabric/misuse.h"
#include "fabric/provider.h"

namespace nagaya::fabric {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kReceives = 64;        // posted at a time
constexpr size_t kOperationsMax = 256;  // pending; more could overrun the provider's buffers
constexpr size_t kMessagesRoom = 64;    // of these for messages only: they show that the node lives
constexpr std::chrono::milliseconds kGrace{100};
constexpr int kKeyTries = 16;
constexpr size_t kSecretKeyBytes = 4;  // at least

// A pending operation, or a posted receive. A completion leads to it by the address of its context.
struct Slot {
  fi_context2 context;  // the provider's, and first: completions name its address
  Event::Kind kind;
  Node node;
  uint64_t cookie;
  std::byte* receive_buffer;
  Owned<fid_mr> local_memory;  // ends with the operation: the task's memory may end after it
  bool is_pending;             // its event is still to come
};

struct Peer {
  std::string name;  // the address that the peer gave
  fi_addr_t address;
  size_t pending = 0;         // operations
  bool has_answered = false;  // an operation has succeeded: there is, or was, a connection
  int error = 0;              // since its death: the error of every operation to it
  Clock::time_point since{};  // of its death; before: of refusals without a reason
};

class Libfabric : public Fabric {
 public:
  explicit Libfabric(const std::string& device)
      : fabric_(open_endpoint(device, kOperationsMax + kReceives)) {
    const size_t bytes = kReceives * fabric_.message_max_bytes;
    receive_memory_ = base::reserve_memory(bytes, "no memory for the fabric's receive buffers");
    receive_registration_ = register_local(receive_memory_.data(), bytes, FI_RECV);
    for (size_t i = 0; i < kReceives; ++i) {
      Slot& slot = slots_.emplace_back();
      slot.kind = Event::Kind::kReceived;
      slot.receive_buffer = receive_memory_.data() + i * fabric_.message_max_bytes;
      to_post_.push_back(&slot);
    }
    post_receives();
  }
  ~Libfabric() override {
    // The endpoint may still fill receive buffers while it closes: it ends before them. But a
    // provider that binds regions to an endpoint wants the regions closed before it.
    regions_.clear();
    fabric_.endpoint.reset();
  }

  std::string address() const override {
    std::string name(256, '\0');
    size_t bytes = name.size();
    check(::fi_getname(&fabric_.endpoint->fid, name.data(), &bytes), "fi_getname");
    name.resize(bytes);
    return name;
  }

  void connect(std::span<const std::string> addresses, Node self) override {
    if (self >= addresses.size())
      throw base::Error(-EINVAL, "cannot connect the fabric: not one of the nodes");
    self_ = self;
    const size_t bytes = address().size();
    for (const std::string& text : addresses) {
      Peer peer{};
      peer.name = text;
      if (text.size() != bytes ||
          ::fi_av_insert(fabric_.addresses.get(), text.data(), 1, &peer.address, 0, nullptr) != 1)
        throw base::Error(-EINVAL, "cannot connect the fabric: node " +
                                       std::to_string(peers_.size()) +
                                       " has another kind of address; FI_PROVIDER must be the "
                                       "same on every node");
      peers_.push_back(std::move(peer));
    }
  }

  size_t message_max_bytes() const override { return fabric_.message_max_bytes; }

  bool try_send(Node node, const void* data, size_t bytes, uint64_t cookie) override;
  bool try_read(Node node, void* to, size_t bytes, const Region& from, uint64_t offset,
                uint64_t cookie) override;
  bool try_write(Node node, const void* from, size_t bytes, const Region& to, uint64_t offset,
                 uint64_t cookie) override;

  void give_up(Node node) override { mark_dead_and_disconnect(node, -ECONNRESET); }

  Region register_memory(void* base, size_t bytes) override;
  void deregister(const Region& region) override { regions_.erase(region.key); }
  bool keys_are_secret() const override {
    return !wants(FI_MR_PROV_KEY) && fabric_.info->domain_attr->mr_key_size >= kSecretKeyBytes;
  }

  size_t poll(std::span<Event> events) override;
  bool may_sleep(std::vector<pollfd>& descriptors) override;

 private:
  bool wants(uint64_t mr_mode) const { return (fabric_.info->domain_attr->mr_mode & mr_mode) != 0; }
  uint64_t new_key() const;
  Owned<fid_mr> register_at(void* base, size_t bytes, uint64_t access);
  Owned<fid_mr> register_local(const void* base, size_t bytes, uint64_t access);
  static void* descriptor_of(const Owned<fid_mr>& memory) {
    return memory == nullptr ? nullptr : ::fi_mr_desc(memory.get());
  }
  // [base, bytes) as the provider wants it for an operation, in `slot` until the operation's end.
  void* local_descriptor(Slot& slot, const void* base, size_t bytes, uint64_t access) {
    if (bytes != 0) slot.local_memory = register_local(base, bytes, access);
    return descriptor_of(slot.local_memory);
  }

  template <typename Post>
  bool try_start(Event::Kind kind, Node node, uint64_t cookie, int misuse, Post post);
  bool refusal_means_death(Peer& peer);
  Slot& take_slot();
  void free_slot(Slot& slot);
  void report(Event::Kind kind, int error, Node node, uint64_t cookie) {
    reports_.push_back({kind, error, node, cookie, nullptr, 0});
  }

  void post_receives();
  size_t take_completions(std::span<Event> events);
  bool take(const fi_cq_msg_entry& completion, Event& event);
  bool take_error(Event& event);
  bool end(Slot& slot, int error, Event& event);
  void mark_dead_and_disconnect(Node node, int error);
  void fail_what_the_dead_never_answered();

  Endpoint fabric_;
  base::Mapping receive_memory_;
  Owned<fid_mr> receive_registration_;
  std::deque<Slot> slots_;  // never shrinks: the provider holds addresses of slots
  std::vector<Slot*> free_slots_;
  std::vector<Slot*> to_post_;  // receives whose message has been seen
  size_t pending_ = 0;          // operations
  std::deque<Event> reports_;   // events that libfabric has none for
  std::map<uint64_t, Owned<fid_mr>> regions_;
  std::vector<Peer> peers_;
  std::vector<Node> dying_;   // dead, with operations pending
  bool was_refused_ = false;  // by a provider that may be connecting, since the last may_sleep()
  bool is_in_doubt_ = false;  // the latest refusal may mean death: no descriptor will tell
  Node self_ = 0;
};

bool Libfabric::try_send(Node node, const void* data, size_t bytes, uint64_t cookie) {
  const int misuse = message_misuse(node, peers_.size(), bytes, message_max_bytes());
  return try_start(Event::Kind::kSent, node, cookie, misuse, [&](Slot& slot, Peer& peer) {
    void* const descriptor = local_descriptor(slot, data, bytes, FI_SEND);
    return ::fi_send(fabric_.endpoint.get(), data, bytes, descriptor, peer.address, &slot.context);
  });
}

bool Libfabric::try_read(Node node, void* to, size_t bytes, const Region& from, uint64_t offset,
                         uint64_t cookie) {
  const int misuse = access_misuse(node, peers_.size(), bytes, from, offset);
  return try_start(Event::Kind::kRead, node, cookie, misuse, [&](Slot& slot, Peer& peer) {
    void* const descriptor = local_descriptor(slot, to, bytes, FI_READ);
    return ::fi_read(fabric_.endpoint.get(), to, bytes, descriptor, peer.address,
                     from.base + offset, from.key, &slot.context);
  });
}

bool Libfabric::try_write(Node node, const void* from, size_t bytes, const Region& to,
                          uint64_t offset, uint64_t cookie) {
  const int misuse = access_misuse(node, peers_.size(), bytes, to, offset);
  return try_start(Event::Kind::kWritten, node, cookie, misuse, [&](Slot& slot, Peer& peer) {
    void* descriptor = local_descriptor(slot, from, bytes, FI_WRITE);
    const iovec local{const_cast<void*>(from), bytes};
    const fi_rma_iov remote{to.base + offset, bytes, to.key};
    const fi_msg_rma message{&local, &descriptor, 1, peer.address, &remote, 1, &slot.context, 0};
    return ::fi_writemsg(fabric_.endpoint.get(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
  });
}

// The common part of try_send, try_read and try_write.
template <typename Post>
bool Libfabric::try_start(Event::Kind kind, Node node, uint64_t cookie, int misuse, Post post) {
  const size_t room = kOperationsMax - (kind == Event::Kind::kSent ? 0 : kMessagesRoom);
  if (pending_ + reports_.size() >= room) return false;
  const int error = misuse != 0 ? misuse : peers_[node].error;
  if (error != 0) {
    report(kind, error, node, cookie);
    return true;
  }
  Peer& peer = peers_[node];
  Slot& slot = take_slot();
  ssize_t result;
  try {
    result = post(slot, peer);
  } catch (const base::Error& refused) {  // the registration of local memory
    result = refused.code();
  }
  if (result != 0) free_slot(slot);
  if (result == -FI_EAGAIN) {
    was_refused_ |= !peer.has_answered;
    if (!refusal_means_death(peer)) return false;
    mark_dead_and_disconnect(node, -ECONNRESET);
    report(kind, -ECONNRESET, node, cookie);
    return true;
  }
  peer.since = {};
  if (result != 0) {
    report(kind, -errno_of(-result), node, cookie);
    return true;
  }
  slot.kind = kind;
  slot.node = node;
  slot.cookie = cookie;
  slot.is_pending = true;
  ++peer.pending;
  ++pending_;
  return true;
}

// True if a refusal means that the peer is dead. A provider refuses while it connects, or when many
// operations are pending: if there was a connection and nothing is pending, the peer has closed it.
bool Libfabric::refusal_means_death(Peer& peer) {
  if (!peer.has_answered || peer.pending != 0) return false;
  const auto now = Clock::now();
  if (peer.since == Clock::time_point{}) peer.since = now;
  is_in_doubt_ = now - peer.since <= kGrace;
  return !is_in_doubt_;
}

Slot& Libfabric::take_slot() {
  if (free_slots_.empty()) return slots_.emplace_back();
  Slot& slot = *free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Libfabric::free_slot(Slot& slot) {
  slot.local_memory.reset();
  free_slots_.push_back(&slot);
}

// Returns a random key of the size of the provider's keys.
uint64_t Libfabric::new_key() const {
  const size_t key_bytes = fabric_.info->domain_attr->mr_key_size;
  const uint64_t number = base::random_number();
  return key_bytes >= sizeof number ? number : number & ((uint64_t{1} << 8 * key_bytes) - 1);
}

Owned<fid_mr> Libfabric::register_at(void* base, size_t bytes, uint64_t access) {
  fid_mr* memory = nullptr;
  int result = -FI_ENOKEY;
  for (int n = 0; n < kKeyTries && result == -FI_ENOKEY; ++n)  // another region has that key
    result =
        ::fi_mr_reg(fabric_.domain.get(), base, bytes, access, 0, new_key(), 0, &memory, nullptr);
  check(result, "registration of " + std::to_string(bytes) + " bytes");
  Owned<fid_mr> owned(memory);
  if (wants(FI_MR_ENDPOINT)) {
    check(::fi_mr_bind(memory, &fabric_.endpoint->fid, 0), "fi_mr_bind");
    check(::fi_mr_enable(memory), "fi_mr_enable");
  }
  return owned;
}

Owned<fid_mr> Libfabric::register_local(const void* base, size_t bytes, uint64_t access) {
  if (!wants(FI_MR_LOCAL)) return nullptr;
  return register_at(const_cast<void*>(base), bytes, access);
}

Region Libfabric::register_memory(void* base, size_t bytes) {
  Owned<fid_mr> memory = register_at(base, bytes, FI_REMOTE_READ | FI_REMOTE_WRITE);
  const uint64_t key = ::fi_mr_key(memory.get());
  regions_[key] = std::move(memory);
  return {wants(FI_MR_VIRT_ADDR) ? reinterpret_cast<uint64_t>(base) : 0, bytes, key};
}

size_t Libfabric::poll(std::span<Event> events) {
  post_receives();
  if (!dying_.empty()) fail_what_the_dead_never_answered();
  size_t count = 0;
  for (; count < events.size() && !reports_.empty(); ++count) {
    events[count] = reports_.front();
    reports_.pop_front();
  }
  // Also without room for an event: the caller may only want the provider to make progress.
  return count + take_completions(events.subspan(count));
}

void Libfabric::post_receives() {
  while (!to_post_.empty()) {
    Slot& slot = *to_post_.back();
    if (::fi_recv(fabric_.endpoint.get(), slot.receive_buffer, message_max_bytes(),
                  descriptor_of(receive_registration_), FI_ADDR_UNSPEC, &slot.context) != 0)
      return;  // later: the provider has no room
    to_post_.pop_back();
  }
}

size_t Libfabric::take_completions(std::span<Event> events) {
  fi_cq_msg_entry completions[32];
  size_t count = 0;
  for (;;) {
    const size_t room = std::min(std::size(completions), events.size() - count);
    const ssize_t found = ::fi_cq_read(fabric_.completions.get(), completions, room);
    if (found == -FI_EAVAIL && room != 0) {
      count += take_error(events[count]);
      continue;
    }
    if (found <= 0) return count;
    for (ssize_t i = 0; i < found; ++i) count += take(completions[i], events[count]);
    if (static_cast<size_t>(found) < room) return count;  // another look would be a system call
  }
}

bool Libfabric::take(const fi_cq_msg_entry& completion, Event& event) {
  Slot& slot = *static_cast<Slot*>(completion.op_context);
  if (slot.kind != Event::Kind::kReceived) return end(slot, 0, event);
  to_post_.push_back(&slot);
  event = {Event::Kind::kReceived, 0, kUnknownNode, 0, slot.receive_buffer, completion.len};
  return true;
}

bool Libfabric::take_error(Event& event) {
  fi_cq_err_entry failed{};
  if (::fi_cq_readerr(fabric_.completions.get(), &failed, 0) != 1 || failed.op_context == nullptr)
    return false;
  Slot& slot = *static_cast<Slot*>(failed.op_context);
  if (slot.kind == Event::Kind::kReceived) {
    to_post_.push_back(&slot);
    return false;
  }
  mark_dead_and_disconnect(slot.node, -ECONNRESET);
  return end(slot, -errno_of(failed.err), event);
}

// Ends an operation that the provider has completed. False: its event was reported before.
bool Libfabric::end(Slot& slot, int error, Event& event) {
  const bool is_pending = std::exchange(slot.is_pending, false);
  if (is_pending) {
    Peer& peer = peers_[slot.node];
    if (error == 0) error = peer.error;  // it was given up, or is dead: the data may be incomplete
    event = {slot.kind, error, slot.node, slot.cookie, nullptr, 0};
    --peer.pending;
    --pending_;
    peer.has_answered |= error == 0;
  }
  free_slot(slot);
  return is_pending;
}

void Libfabric::mark_dead_and_disconnect(Node node, int error) {
  Peer& peer = peers_[node];
  if (peer.error != 0) return;
  peer.error = error;
  peer.since = Clock::now();
  // Closes a connection that is still open: it must not touch memory after the events. Only some
  // providers close it when the address is removed.
  ::fi_av_remove(fabric_.addresses.get(), &peer.address, 1, 0);
  end_connections(peers_[self_].name, peer.name);
  dying_.push_back(node);
}

// Fails operations that are still pending kGrace after the peer's death. Normally the provider
// itself fails them, at once.
void Libfabric::fail_what_the_dead_never_answered() {
  const auto now = Clock::now();
  std::erase_if(dying_, [&](Node node) {
    Peer& peer = peers_[node];
    if (peer.pending != 0 && now - peer.since < kGrace) return false;
    for (Slot& slot : slots_) {
      if (!slot.is_pending || slot.node != node) continue;
      slot.is_pending = false;  // but not free: the provider may yet name it
      report(slot.kind, peer.error, node, slot.cookie);
    }
    pending_ -= std::exchange(peer.pending, 0);
    return true;
  });
}

bool Libfabric::may_sleep(std::vector<pollfd>& descriptors) {
  if (std::exchange(is_in_doubt_, false)) return false;
  if (!reports_.empty() || !to_post_.empty() || !dying_.empty()) return false;
  // fabric_.may_sleep() lets the provider look for completions. It may find all that a refused
  // operation waits for, and then no descriptor wakes for them: the caller tries once more before
  // it sleeps.
  const bool was_refused = std::exchange(was_refused_, false);
  if (!fabric_.may_sleep() || was_refused) return false;
  descriptors.push_back({fabric_.wait_fd, POLLIN, 0});
  return true;
}

}  // namespace

std::unique_ptr<Fabric> create_libfabric(const std::string& device) {
  return std::make_unique<Libfabric>(device);
}

}  // namespace nagaya::fabric
