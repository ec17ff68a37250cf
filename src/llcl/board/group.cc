// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/board/group.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "llcl/board/board.h"
#include "task/space/space_heap.h"

namespace nagaya::llcl {

struct GroupBlock {
  task::Stamp stamp;
  GroupName name;
  uint64_t part_bytes;  // of each member's part
  uint32_t count;       // of members
  // Both are accessed under the bucket's lock, which orders them.
  std::atomic<uint32_t> closed;  // members that have closed it
  std::atomic<GroupBlock*> next;

  uint32_t* members() { return reinterpret_cast<uint32_t*>(this + 1); }
  std::byte* parts() { return reinterpret_cast<std::byte*>(this) + parts_at(count); }
  static uint64_t parts_at(uint64_t count) {
    return mailbox::whole_lines(sizeof(GroupBlock) + count * sizeof(uint32_t));
  }
};

namespace {

using Bucket = Groups::Bucket;

Bucket& bucket_of(Board& board, const GroupName& name, std::span<const uint32_t> members) {
  // Odd factors spread contexts and first members.
  const uint64_t hash = name.context * 0x9e3779b97f4a7c15 + members.front() * 0xbf58476d1ce4e5b9;
  return board.groups->buckets[(hash >> 32) % Groups::kBuckets];
}

// Takes the bucket's lock if it is free, or if its holder has ended. Returns whether it was taken.
bool try_lock(Board& board, mailbox::Owner self, Bucket& bucket) {
  uint32_t holder = 0;
  const auto take = [&] {
    // Acquire: pairs with unlock's release; if the holder has ended, is_alive has acquired before.
    return bucket.lock.compare_exchange_strong(holder, self.bits, std::memory_order_acquire,
                                               std::memory_order_relaxed);
  };
  if (take()) return true;
  const mailbox::Owner other{holder};
  return other != mailbox::Owner::host() && !BoardTasks{board}.is_alive(other) && take();
}
void unlock(Bucket& bucket) {
  bucket.lock.store(0, std::memory_order_release);
}

// Holds a bucket's lock while it lives.
class Turn {
 public:
  Turn(Board& board, mailbox::Owner self, Bucket& bucket) : bucket_(bucket) {
    // Another thread of the own task may be the holder, too.
    while (!try_lock(board, self, bucket)) mailbox::Machine::yield();
  }
  ~Turn() { unlock(bucket_); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Bucket& bucket_;
};

mailbox::Owner owner_of(const task::TaskRecord& task) {
  return mailbox::Owner::task(task.number, task.generation.load(std::memory_order_relaxed));
}

// Returns the link that points to the group's block; if there is none, the bucket's last link,
// which is nullptr.
std::atomic<GroupBlock*>& link_to(Bucket& bucket, const GroupName& name,
                                  std::span<const uint32_t> members) {
  std::atomic<GroupBlock*>* link = &bucket.first;
  for (GroupBlock* block; (block = link->load(std::memory_order_relaxed)) != nullptr;
       link = &block->next)
    if (block->name == name && block->count == members.size() &&
        std::equal(members.begin(), members.end(), block->members()))
      break;
  return *link;
}

GroupBlock* make(task::TaskRecord& self, const GroupName& name, std::span<const uint32_t> members,
                 uint64_t part_bytes) {
  const uint64_t parts_at = GroupBlock::parts_at(members.size());
  const uint64_t parts_bytes = members.size() * part_bytes;
  void* const memory = task::heap_allocate(self, parts_at + parts_bytes);
  if (memory == nullptr) return nullptr;
  auto* const block = new (memory) GroupBlock{};
  block->stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(GroupBlock), 0};
  block->name = name;
  block->count = static_cast<uint32_t>(members.size());
  block->part_bytes = part_bytes;
  std::copy(members.begin(), members.end(), block->members());
  std::memset(block->parts(), 0, parts_bytes);
  return block;
}

bool has_member(GroupBlock& block, uint32_t task) {
  const uint32_t* const end = block.members() + block.count;
  return std::find(static_cast<const uint32_t*>(block.members()), end, task) != end;
}

}  // namespace

int Group::open(Board& board, task::TaskRecord& self, const GroupName& name,
                std::span<const uint32_t> members, uint64_t bytes) {
  Bucket& bucket = bucket_of(board, name, members);
  const Turn turn(board, owner_of(self), bucket);
  std::atomic<GroupBlock*>& link = link_to(bucket, name, members);
  GroupBlock* block = link.load(std::memory_order_relaxed);
  if (block == nullptr) {
    block = make(self, name, members, mailbox::whole_lines(bytes));
    if (block == nullptr) return -ENOMEM;
    block->next.store(bucket.first.load(std::memory_order_relaxed), std::memory_order_relaxed);
    bucket.first.store(block, std::memory_order_relaxed);
  }
  board_ = &board;
  self_ = &self;
  block_ = block;
  parts_ = block->parts();
  part_bytes_ = block->part_bytes;
  members_ = {block->members(), block->count};
  return 0;
}

void Group::close(void (*end)(Group& group)) {
  if (block_ == nullptr) return;
  GroupBlock* const block = std::exchange(block_, nullptr);
  Bucket& bucket = bucket_of(*board_, block->name, members_);
  const Turn turn(*board_, owner_of(*self_), bucket);
  const uint32_t closed = block->closed.load(std::memory_order_relaxed) + 1;
  block->closed.store(closed, std::memory_order_relaxed);
  if (closed != block->count) return;
  std::atomic<GroupBlock*>& link = link_to(bucket, block->name, members_);
  if (link.load(std::memory_order_relaxed) != block) return;  // the host frees it
  link.store(block->next.load(std::memory_order_relaxed), std::memory_order_relaxed);
  if (end != nullptr) end(*this);
  free(block);
}

bool forget_groups(Board& board, const task::TaskRecord& ended) {
  const task::SpaceHeap& heap = *ended.space->heap;
  for (Bucket& bucket : board.groups->buckets) {
    if (bucket.first.load(std::memory_order_relaxed) == nullptr) continue;
    if (!try_lock(board, mailbox::Owner::host(), bucket)) return false;
    std::atomic<GroupBlock*>* link = &bucket.first;
    while (GroupBlock* const block = link->load(std::memory_order_relaxed))
      if (task::heap_owner(heap, reinterpret_cast<uint64_t>(block)) == ended.number ||
          has_member(*block, ended.number))
        link->store(block->next.load(std::memory_order_relaxed), std::memory_order_relaxed);
      else
        link = &block->next;
    unlock(bucket);
  }
  return true;
}

void Group::light_fence() const {
  board_->has_heavy_fence ? mailbox::Machine::light_fence() : mailbox::Machine::fence();
}

// The fence orders the caller's stores before its load of `asleep`; see Wait::arm. A full one would
// wait for the lines that were stored into: 0.15 us of a message of 0.25.
void Group::wake() const {
  light_fence();
  if (board_->asleep.load(std::memory_order_relaxed) == 0) return;
  for (const uint32_t task : members_) wake_task(*board_, task);
}

uint32_t Group::processors() const {
  return board_->load.processors;
}

bool Group::has_sleepers() const {
  return board_->asleep.load(std::memory_order_relaxed) != 0;
}

void Group::wake_one(uint32_t member) const {
  light_fence();
  if (board_->asleep.load(std::memory_order_relaxed) != 0) wake_task(*board_, members_[member]);
}

void Group::copy(void* to, const void* from, size_t bytes, uint32_t member) const {
  const Copy copy{static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes,
                  members_[member]};
  count_copied(board_->copies->copy(copy, owner_of(*self_), BoardTasks{*board_}));
}

void Group::copy_runs(const layout::Walk& to, const layout::Walk& from, size_t bytes,
                      uint32_t member) const {
  const Layouts layouts{to, from};
  const Copy copy{nullptr, nullptr, bytes, members_[member], &layouts};
  count_copied(board_->copies->copy(copy, owner_of(*self_), BoardTasks{*board_}));
}

void Group::count_copied(uint64_t bytes) const {
  count(*board_, owner_of(*self_), &TaskActivity::copied_bytes, bytes);
}

void* Group::allocate(uint64_t bytes) const {
  return task::heap_allocate(*self_, bytes);
}

void Group::free(void* memory) const {
  task::heap_free(*self_, memory);
}

}  // namespace nagaya::llcl
