// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange.h"

#include <algorithm>
#include <cstring>

#include "coll/move.h"
#include "layout/blocks.h"
#include "layout/bytes.h"
#include "llcl/requests/tuning.h"

namespace nagaya::coll {
namespace {

// The members of a group. Where ranks follow the cores, most of them share a cache.
constexpr uint32_t kGroupMembers = 8;
constexpr uint32_t kHasPacked = 1;  // the line's level

uint32_t groups_of(uint32_t size) {
  return (size + kGroupMembers - 1) / kGroupMembers;
}

// A group of members, and where the packed blocks lie in the lines of its members.
class Group {
 public:
  Group(uint32_t number, uint32_t size)
      : size_(size),
        first_(number * kGroupMembers),
        members_(std::min(kGroupMembers, size - first_)) {}

  uint32_t first() const { return first_; }
  uint32_t members() const { return members_; }
  // Returns the member that packs the blocks for group `target`.
  uint32_t packer_for(uint32_t target) const { return first_ + target % members_; }
  // Returns where its packer puts the block of `member` for member number `n` of group `target`:
  // the blocks for one member lie together.                                               [blocks]
  size_t place_of(uint32_t member, uint32_t target, uint32_t n) const {
    return size_ + (size_t{target / members_} * kGroupMembers + n) * kGroupMembers + member -
           first_;
  }
  // Returns how many blocks the line of a member has.
  size_t blocks() const {
    const uint32_t targets = (groups_of(size_) + members_ - 1) / members_;
    return size_ + size_t{targets} * kGroupMembers * kGroupMembers;
  }

 private:
  const uint32_t size_, first_, members_;
};

// Without `varies` all blocks have this size, however the members list them.           [bytes]
size_t bytes_of(const nagaya_collective& what) {
  return layout::block_of(what.send, 0).bytes();
}

Group own_group(const Operation& operation) {
  return {operation.rank() / kGroupMembers, operation.size()};
}

void post(Operation& operation) {
  const nagaya_blocks& send = operation.what().send;
  const size_t bytes = bytes_of(operation.what());
  operation.post_data(own_group(operation).blocks() * bytes, [&](std::byte* to) {
    if (layout::are_one_run(send))
      return layout::copy_bytes(to, send.base, operation.size() * bytes);
    for (uint32_t n = 0; n < operation.size(); ++n)
      layout::gather(layout::block_of(send, n), to + n * bytes, bytes);
  });
}

// Copies `count` blocks that lie one behind the other; at `to` one begins every `apart` bytes. A
// copy of a size that the compiler knows needs no call.
void spread(std::byte* to, size_t apart, const std::byte* from, uint32_t count, size_t bytes) {
  constexpr size_t kNumberBytes = sizeof(uint64_t);
  for (uint32_t n = 0; n < count; ++n) {
    if (bytes == kNumberBytes)
      std::memcpy(to + n * apart, from + n * kNumberBytes, kNumberBytes);
    else
      std::memcpy(to + n * apart, from + n * bytes, bytes);
  }
}

// Packs what this member passes on to other groups for a member of its own one.
void pack(const Operation& operation, const Group& own, uint32_t member) {
  const size_t bytes = bytes_of(operation.what());
  const std::byte* const blocks = operation.line(member).data();
  std::byte* const packed = operation.own_data();
  const uint32_t self = operation.rank() - own.first();
  for (uint32_t target = self; target < groups_of(operation.size()); target += own.members()) {
    const Group to(target, operation.size());
    spread(packed + own.place_of(member, target, 0) * bytes, kGroupMembers * bytes,
           blocks + to.first() * bytes, to.members(), bytes);
  }
}

// Receives the blocks that the members of another group have for this one, which lie together: by
// one copy if they belong together, too.
void receive_from(Operation& operation, const Group& other) {
  const nagaya_collective& what = operation.what();
  const size_t bytes = bytes_of(what);
  const uint32_t number = operation.rank() / kGroupMembers, self = operation.rank() % kGroupMembers;
  const std::byte* const blocks = operation.line(other.packer_for(number)).data() +
                                  other.place_of(other.first(), number, self) * bytes;
  if (what.store == nullptr && what.receive.bytes == bytes && layout::are_one_run(what.receive)) {
    const size_t total = other.members() * bytes;
    layout::copy_bytes(static_cast<std::byte*>(what.receive.base) + other.first() * bytes, blocks,
                       total);
    return operation.team().group().count_copied(total);
  }
  for (uint32_t n = 0; n < other.members(); ++n)
    receive_block(operation, other.first() + n, {blocks + n * bytes, bytes}, false);
}

// Handles the members of the own group, then all groups, the own one first.
bool work(Operation& operation) {
  const uint32_t groups = groups_of(operation.size());
  const Group own = own_group(operation);
  for (; operation.next < own.members(); ++operation.next) {
    const uint32_t member =
        own.first() + (operation.rank() - own.first() + operation.next) % own.members();
    if (!operation.has_posted(member)) return false;
    pack(operation, own, member);
  }
  if (operation.next == own.members()) {
    operation.post_level(kHasPacked);
    ++operation.next;
  }
  for (; operation.next <= own.members() + groups; ++operation.next) {
    const uint32_t number = operation.rank() / kGroupMembers;
    const Group other((number + operation.next - own.members() - 1) % groups, operation.size());
    if (!operation.has_posted(other.packer_for(number), kHasPacked)) return false;
    receive_from(operation, other);
  }
  return true;
}

}  // namespace

const Algorithm kExchange{"exchange", post, work, nullptr, nullptr};

// The members of the last group, if it is small, pack more than all others.
bool can_exchange(const nagaya_collective& what, uint32_t size) {
  const size_t blocks = Group(groups_of(size) - 1, size).blocks();
  return what.varies == 0 && bytes_of(what) != 0 &&
         blocks * bytes_of(what) <= llcl::Tuning::own()[llcl::Tuned::kPostedMaxBytes];
}

}  // namespace nagaya::coll
