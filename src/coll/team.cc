// SPDX-License-Identifier: BSD-3-Clause
#include "coll/team.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "llcl/tuning.h"

namespace nagaya::coll {
namespace {

bool is_large_team(const llcl::Group& group) {
  const llcl::Tuning& tuning = llcl::Tuning::own();
  const size_t size = group.members().size();
  return size >= tuning[llcl::Tuned::kLargeTeam] &&
         size <= tuning[llcl::Tuned::kLargeTeamLoad] * group.processors();
}

template <class AnyPart>
void free_buffers(llcl::Group& group) {
  for (uint32_t rank = 0; rank < group.members().size(); ++rank)
    for (std::byte* const buffer : reinterpret_cast<AnyPart*>(group.part(rank))->ring.buffers)
      if (buffer != nullptr) group.free(buffer);
}

}  // namespace

Team::~Team() {
  group_.close(free_buffers<Part>);
  deep_group_.close(free_buffers<DeepPart>);
}

int Team::open(llcl::Board& board, task::TaskRecord& self, uint64_t context, uint32_t number,
               std::span<const uint32_t> members) {
  board_ = &board;
  self_ = &self;
  name_ = {llcl::GroupUser::kTeam, 2 * number, context};
  const int error = group_.open(board, self, name_, members, sizeof(Part));
  is_large_ = error == 0 && is_large_team(group_);
  return error;
}

// Opens the second parts (line.h), for collectives from DeepPart::kFrom on. Returns false if there
// is no memory now.
bool Team::open_deep() {
  if (deep_group_.is_open()) return true;
  const llcl::GroupName name = {name_.user, name_.number + 1, name_.context};
  return deep_group_.open(*board_, *self_, name, group_.members(), sizeof(DeepPart)) == 0;
}

uint64_t Team::find_slowest() {
  uint64_t slowest = UINT64_MAX;
  for (uint32_t rank = 0; rank < size(); ++rank)
    // Acquire: pairs with leave().
    slowest = std::min(slowest, part(rank).done.load(std::memory_order_acquire));
  return slowest_ = slowest;
}

// At most DeepPart::kDepth collectives are pending, so each has a bit in `left_early_`.
void Team::leave(uint64_t number) {
  mailbox::Machine::step(mailbox::StopPoint::kLineLeft);
  left_early_ |= uint64_t{1} << (number - left_);
  const int count = std::countr_one(left_early_);
  if (count == 0) return;
  left_early_ = count == 64 ? 0 : left_early_ >> count;
  left_ += static_cast<uint64_t>(count);
  // Release: this member's reads of others' memory are over before the others change it. Pairs with
  // has_left(), find_slowest().
  part(rank_).done.store(left_, std::memory_order_release);
  group_.wake();
}

std::byte* Team::buffer(uint64_t number, size_t bytes) {
  if (number < DeepPart::kFrom)
    return buffer_of(part(rank_).ring.buffers[number % Part::kDepth],
                     buffer_bytes_[number % Part::kDepth], bytes);
  return buffer_of(deep_part(rank_).ring.buffers[number % DeepPart::kDepth],
                   deep_buffer_bytes_[number % DeepPart::kDepth], bytes);
}

std::byte* Team::buffer_of(std::byte*& buffer, size_t& known_bytes, size_t bytes) {
  if (known_bytes >= bytes) return buffer;
  if (buffer != nullptr) group_.free(std::exchange(buffer, nullptr));
  known_bytes = std::bit_ceil(std::max<size_t>(bytes, 256));
  buffer = static_cast<std::byte*>(group_.allocate(known_bytes));
  if (buffer == nullptr) known_bytes = 0;
  return buffer;
}

}  // namespace nagaya::coll
