// SPDX-License-Identifier: BSD-3-Clause
// group.h - an ordered set of tasks of this node that share some memory, a part of it for each
// member: the base of collectives.
//
//   Groups: | bucket 0: lock, first | bucket 1 | ...                       on the board
//                              │
//                              ▼
//   GroupBlock: | name, members | closed, next | part 0 | part 1 | ... |   in the space heap
//
// The first member that opens a group makes its block, with all parts zero; the others find it by
// its name. Opening waits for no member. The block is freed when every member has closed it, so all
// members or none must open a group. Two groups that exist at once have different names or no
// member in common.
//
// A bucket's chain changes under its lock only, each time by one store:
//
//   not there -> made    the first opener    store of `first`: the block is complete
//   closed n -> n + 1    each closer         store of `closed`
//   made -> gone         the last closer     store of the `next` or `first` that leads to it; then
//                                            it frees the block
//                        the host, before it frees the blocks and the number of an ended task:
//                        the groups that it has made or is a member of leave the directory
//
//            open   close                    parts
//   open     any    any of another group,    any
//                   or of another member
//   close           any of other members     not those of the closing member's own Group
//
// Progress: a lock is held for as long as a bucket's chain is read. Death of its holder, at any
// instruction: a task that waits for the lock sees that the host has reaped the holder, and takes
// the lock; the chain is whole, because one store changes it. A block that was made but not
// chained, or unchained but not freed, is freed with its owner's other blocks. A member that dies
// never closes: the block stays to the end of its maker's job.
// A block is freed with the task that made it, once that has been waited for (law 3): in jobs whose
// tasks leave each other their memory (`keep_ended` of task.h) that is the end of the job.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mailbox/machine.h"
#include "mailbox/owner.h"
#include "nagaya/llcl.h"
#include "task/space/space.h"

namespace nagaya::layout {
class Walk;
}

namespace nagaya::llcl {

struct Board;
struct GroupBlock;

// The directory of all groups of a node. All zero: there are none.
struct Groups {
  static constexpr uint32_t kBuckets = 1024;

  struct Bucket {
    std::atomic<uint32_t> lock;  // mailbox::Owner of its holder; 0: it is free
    std::atomic<GroupBlock*> first;
  };
  Bucket buckets[kBuckets];
};

// The kind of library that uses a group. Contexts of different kinds are not related.
enum class GroupUser : uint32_t { kTeam, kAreas, kArray, kWindow };
struct GroupName {
  GroupUser user;
  uint32_t number;  // among the groups of one context
  uint64_t context;

  bool operator==(const GroupName&) const = default;
};

// A member's own handle. One thread at a time opens and closes; any thread wakes and uses the
// parts.
class Group {
 public:
  Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { close(); }

  // `members`: numbers of tasks of this node, each once, in the same order at every member.
  // `bytes`: size of each member's part, the same at every member; rounded up to whole lines.
  // `self`: the calling task's record.
  // Returns 0, or -ENOMEM: the space heap is exhausted, nothing has changed.
  int open(Board& board, task::TaskRecord& self, const GroupName& name,
           std::span<const uint32_t> members, uint64_t bytes);
  bool is_open() const { return block_ != nullptr; }
  // Undoes open(), for a member that has not used the group yet. It may open the group later.
  void undo_open() { block_ = nullptr; }
  // Closes the group. The last member that closes it calls `end`, then frees its block.
  void close(void (*end)(Group& group) = nullptr);

  // Returns a member's part, aligned to a line. The members agree on who stores and loads there.
  std::byte* part(uint32_t member) const { return parts_ + member * part_bytes_; }
  std::span<const uint32_t> members() const { return members_; }
  // Returns how many processors all tasks of the node share.
  uint32_t processors() const;

  // Orders the caller's earlier stores before its later loads, beside the fence that a thread makes
  // all tasks execute before a long sleep (Wait::arm): the thread sees the stores, or the caller
  // sees that it is about to sleep. Executes no instruction where the kernel has membarrier(2).
  void light_fence() const;
  // Wakes the members' threads that sleep in a Wait, after the caller has stored something for
  // them. It costs two loads while nobody sleeps, because a thread fences for its wakers before a
  // long sleep. A thread that begins a nap (WaitTable::kNapWithoutBellNs) at the same moment may
  // sleep to its end.
  void wake() const;
  void wake_one(uint32_t member) const;
  // Whether threads of any tasks of the node sleep, or are about to.
  bool has_sleepers() const;
  // Copies between two buffers that do not overlap. Waiting threads help, those of `member` first.
  void copy(void* to, const void* from, size_t bytes, uint32_t member) const;
  // Copies as copy() does, between sides that are not both one run.
  void copy_runs(const layout::Walk& to, const layout::Walk& from, size_t bytes,
                 uint32_t member) const;
  // Called after the member has copied so many bytes of users' data in another way.
  void count_copied(uint64_t bytes) const;
  // Memory of the space heap, aligned to a line, that other members may read; nullptr: exhausted.
  // Any member frees it.
  void* allocate(uint64_t bytes) const;
  void free(void* memory) const;

 private:
  Board* board_ = nullptr;
  task::TaskRecord* self_ = nullptr;
  GroupBlock* block_ = nullptr;
  std::byte* parts_ = nullptr;
  uint64_t part_bytes_ = 0;
  std::span<const uint32_t> members_;
};

// Called by the host before the blocks of an ended task are freed and its number is used again.
// Removes the groups that the task has made, and those of which it is a member, from the directory:
// the next task of the number must not find a group that the dead one has not closed. False: a task
// is reading the directory just now, and the host must call again.
bool forget_groups(Board& board, const task::TaskRecord& ended);

}  // namespace nagaya::llcl
