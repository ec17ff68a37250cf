// SPDX-License-Identifier: BSD-3-Clause
#include "coll/team.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "llcl/requests/tuning.h"

namespace nagaya::coll {
namespace {

bool is_large_team(const llcl::Group& group) {
  const llcl::Tuning& tuning = llcl::Tuning::own();
  const size_t size = group.members().size();
  return size >= tuning[llcl::Tuned::kLargeTeamMinMembers] &&
         size <= tuning[llcl::Tuned::kLargeTeamMembersPerProcessor] * group.processors();
}

template <class AnyArea>
void free_buffers(llcl::Group& group) {
  for (uint32_t rank = 0; rank < group.members().size(); ++rank)
    for (std::byte* const buffer : reinterpret_cast<AnyArea*>(group.part(rank))->ring.buffers)
      if (buffer != nullptr) group.free(buffer);
}

}  // namespace

Team::~Team() {
  group_.close(free_buffers<MemberArea>);
  deep_group_.close(free_buffers<DeepMemberArea>);
}

int Team::open(llcl::Board& board, task::TaskRecord& self, uint64_t context, uint32_t number,
               std::span<const uint32_t> members) {
  board_ = &board;
  self_ = &self;
  name_ = {llcl::GroupUser::kTeam, 2 * number, context};
  const int error = group_.open(board, self, name_, members, sizeof(MemberArea));
  is_large_ = error == 0 && is_large_team(group_);
  is_crowded_ = error == 0 && members.size() > group_.processors();
  return error;
}

// Opens the members' second areas (line.h), for collectives from DeepMemberArea::kFirstCollective
// on. Returns false if there is no memory now.
bool Team::open_deep_areas() {
  if (deep_group_.is_open()) return true;
  const llcl::GroupName name = {name_.user, name_.number + 1, name_.context};
  return deep_group_.open(*board_, *self_, name, group_.members(), sizeof(DeepMemberArea)) == 0;
}

uint64_t Team::find_slowest() {
  uint64_t slowest = UINT64_MAX;
  for (uint32_t rank = 0; rank < size(); ++rank)
    // Acquire: pairs with leave().
    slowest = std::min(slowest, area(rank).done.load(std::memory_order_acquire));
  return slowest_ = slowest;
}

// At most DeepMemberArea::kDepth collectives are pending, so each has a bit in `left_early_`.
void Team::leave(uint64_t number) {
  mailbox::Machine::step(mailbox::StopPoint::kLineLeft);
  left_early_ |= uint64_t{1} << (number - left_);
  const int count = std::countr_one(left_early_);
  if (count == 0) return;
  left_early_ = count == 64 ? 0 : left_early_ >> count;
  left_ += static_cast<uint64_t>(count);
  // Release: this member's reads of others' memory are over before the others change it. Pairs with
  // has_left(), find_slowest().
  area(rank_).done.store(left_, std::memory_order_release);
  group_.wake();
}

std::byte* Team::buffer(uint64_t number, size_t bytes) {
  if (number < DeepMemberArea::kFirstCollective)
    return grow_buffer(area(rank_).ring.buffers[number % MemberArea::kDepth],
                       buffer_bytes_[number % MemberArea::kDepth], bytes);
  return grow_buffer(deep_area(rank_).ring.buffers[number % DeepMemberArea::kDepth],
                     deep_buffer_bytes_[number % DeepMemberArea::kDepth], bytes);
}

std::byte* Team::grow_buffer(std::byte*& buffer, size_t& capacity, size_t bytes) {
  if (capacity >= bytes) return buffer;
  if (buffer != nullptr) group_.free(std::exchange(buffer, nullptr));
  capacity = std::bit_ceil(std::max<size_t>(bytes, 256));
  buffer = static_cast<std::byte*>(group_.allocate(capacity));
  if (buffer == nullptr) capacity = 0;
  return buffer;
}

}  // namespace nagaya::coll
