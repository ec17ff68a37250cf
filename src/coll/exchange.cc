// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange.h"

#include <algorithm>
#include <cstring>

#include "coll/move.h"
#include "layout/blocks.h"
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

// Packs what this member passes on to other groups.
void pack(const Operation& operation, const Group& own, std::byte* line) {
  const size_t bytes = bytes_of(operation.what());
  const uint32_t self = operation.rank() - own.first();
  for (uint32_t target = self; target < groups_of(operation.size()); target += own.members()) {
    const Group to(target, operation.size());
    for (uint32_t member = own.first(); member < own.first() + own.members(); ++member) {
      const std::byte* const blocks = operation.line(member).data() + to.first() * bytes;
      for (uint32_t n = 0; n < to.members(); ++n)
        std::memcpy(line + own.place_of(member, target, n) * bytes, blocks + n * bytes, bytes);
    }
  }
}

// Receives the blocks that the members of another group have for this one.
void receive_from(Operation& operation, const Group& other) {
  const size_t bytes = bytes_of(operation.what());
  const uint32_t number = operation.rank() / kGroupMembers, self = operation.rank() % kGroupMembers;
  const std::byte* const data = operation.line(other.packer_for(number)).data();
  for (uint32_t member = other.first(); member < other.first() + other.members(); ++member) {
    receive_block(operation, member, {data + other.place_of(member, number, self) * bytes, bytes},
                  false);
  }
}

// Handles the members of the own group, then all groups, the own one first.
bool work(Operation& operation) {
  const uint32_t groups = groups_of(operation.size());
  const Group own = own_group(operation);
  for (; operation.next < own.members(); ++operation.next)
    if (!operation.has_posted(own.first() + operation.next)) return false;
  if (operation.next == own.members()) {
    operation.post_level(kHasPacked, [&](std::byte* line) { pack(operation, own, line); });
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
