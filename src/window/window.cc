// SPDX-License-Identifier: BSD-3-Clause
#include "window/window.h"

#include <errno.h>

#include <algorithm>
#include <bit>

#include "base/catch_errors.h"
#include "llcl/requests/wait.h"
#include "mailbox/owner.h"

namespace nagaya::window {
namespace {

constexpr size_t kAlignmentMost = 2 << 20;

Part& part_in(const llcl::Group& group, uint32_t rank) {
  return *reinterpret_cast<Part*>(group.part(rank));
}

void arrive_in(const llcl::Group& group, uint64_t arrivals) {
  // Release and acquire: pairs with have_arrived() of the others, whose stores this one passes on.
  if (part_in(group, 0).arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == arrivals)
    group.wake();
}

int check(const nagaya_window_memory& own) {
  if (own.error != 0) return std::min(own.error, -1);
  const bool is_sound = own.kind >= NAGAYA_WINDOW_CREATE && own.kind <= NAGAYA_WINDOW_DYNAMIC &&
                        own.unit != 0 && own.alignment <= kAlignmentMost &&
                        (own.alignment == 0 || std::has_single_bit(own.alignment)) &&
                        (own.kind != NAGAYA_WINDOW_CREATE || own.base != nullptr || own.bytes == 0);
  return is_sound ? 0 : -EINVAL;
}

// Makes zeroed memory in *memory, and returns where it begins. May throw std::bad_alloc.
std::byte* make_memory(std::optional<array::BlockMemory>& memory, size_t bytes, size_t alignment,
                       uint64_t context) {
  if (bytes > PTRDIFF_MAX / 2) throw std::bad_alloc();
  memory.emplace(bytes + alignment, context);
  std::byte* const begin = memory->begin();
  return alignment == 0
             ? begin
             : begin + (alignment - reinterpret_cast<uintptr_t>(begin) % alignment) % alignment;
}

}  // namespace

Window::Window(llcl::Board& board, task::TaskRecord& self, uint32_t rank, uint32_t members,
               bool has_threads, std::shared_ptr<const processes::ProcessSet> set)
    : board_(board),
      self_(self),
      set_(std::move(set)),
      owner_(mailbox::Owner::task(self.number, self.generation.load(std::memory_order_relaxed))),
      rank_(rank),
      size_(members),
      epochs_(members, has_threads) {}

Window::~Window() {
  if (group_.is_open()) part(rank_).attachments.free(group_);
}

int Window::join(uint64_t context, std::span<const uint32_t> members) {
  context_ = context;
  return group_.open(board_, self_, group_name_of(context), members, Part::bytes_for(size_));
}

void Window::announce_error(const llcl::Group& group, uint32_t rank, int error) {
  part_in(group, rank).error = error;
  arrive_in(group, group.members().size());
}

void Window::announce(const nagaya_window_memory& own) {
  Part& part = this->part(rank_);
  part.kind = own.kind;
  part.bytes = own.kind == NAGAYA_WINDOW_DYNAMIC ? 0 : own.bytes;
  part.unit = own.unit;
  part.base = own.kind == NAGAYA_WINDOW_CREATE ? static_cast<std::byte*>(own.base) : nullptr;
  is_dynamic_ = own.kind == NAGAYA_WINDOW_DYNAMIC;
  alignment_ = own.alignment;
  part.error = base::catch_errors([&] {
    const int error = check(own);
    if (error == 0 && own.kind == NAGAYA_WINDOW_ALLOCATE)
      part.base = make_memory(memory_, own.bytes, own.alignment, context_);
    return error;
  });
  announcements_ = arrive();
}

bool Window::is_opened() {
  if (!have_arrived(announcements_)) return false;
  for (uint32_t n = 0; n < members_here() && opening_error_ == 0; ++n)
    opening_error_ =
        part_at(n).kind == first_part().kind || part_at(n).error != 0 ? part_at(n).error : -EINVAL;
  if (opening_error_ != 0 || first_part().kind != NAGAYA_WINDOW_CONTIGUOUS) return true;
  if (rank_ == 0) {
    const int error = base::catch_errors([this] { return place_contiguous(); });
    first_part().placement.store(error == 0 ? Part::kPlaced : error, std::memory_order_release);
    group_.wake();
  }
  // Acquire: pairs with the store above.
  const int32_t placement = first_part().placement.load(std::memory_order_acquire);
  if (placement == Part::kNotPlaced) return false;
  if (placement != Part::kPlaced) opening_error_ = placement;
  return true;
}

// Called by rank 0: makes the memory of all members, and stores their bases.
int Window::place_contiguous() {
  size_t bytes = 0;
  for (uint32_t rank = 0; rank < size(); ++rank)
    if (__builtin_add_overflow(bytes, part(rank).bytes, &bytes)) return -ENOMEM;
  std::byte* at = make_memory(memory_, bytes, alignment_, context_);
  for (uint32_t rank = 0; rank < size(); at += part(rank++).bytes) part(rank).base = at;
  return 0;
}

nagaya_process Window::process_of(uint32_t rank) const {
  if (set_ != nullptr) return set_->process(rank);
  return {board_.node.load(std::memory_order_relaxed), group_.members()[rank]};
}

int Window::attach(void* base, size_t bytes) {
  const std::unique_lock lock(attachments_lock_);
  if (bytes == 0) {
    empty_attachments_.push_back(base);
    return 0;
  }
  return part(rank_).attachments.attach(group_, reinterpret_cast<uint64_t>(base), bytes);
}

int Window::detach(const void* base) {
  const std::unique_lock lock(attachments_lock_);
  const int error = part(rank_).attachments.detach(reinterpret_cast<uint64_t>(base));
  if (error == 0) return 0;
  const auto empty = std::ranges::find(empty_attachments_, base);
  if (empty == empty_attachments_.end()) return error;
  empty_attachments_.erase(empty);
  return 0;
}

uint64_t Window::arrive() {
  const uint64_t arrivals = ++fences_ * members_here();
  arrive_in(group_, arrivals);
  return arrivals;
}

bool Window::has_all(std::span<const uint32_t> ranks) const {
  return std::ranges::all_of(ranks, [this](uint32_t rank) { return rank < size(); });
}

int Window::post(std::span<const uint32_t> ranks, bool is_unchecked) {
  if (is_posted()) return -EBUSY;
  is_posted_.store(true, std::memory_order_relaxed);
  completions_ += ranks.size();
  if (is_unchecked) return 0;
  for (const uint32_t rank : ranks) {
    if (is_remote(rank)) continue;
    // Release: pairs with start().
    part(rank).posts_from(rank_).fetch_or(uint64_t{1} << rank_ % 64, std::memory_order_release);
    group_.wake_one(index_of(rank));
  }
  return 0;
}

bool Window::end_exposure() {
  // Acquire: pairs with complete().
  if (part(rank_).completed.load(std::memory_order_acquire) != completions_) return false;
  is_posted_.store(false, std::memory_order_relaxed);
  return true;
}

bool Window::start(uint32_t target, bool is_unchecked) {
  const uint64_t bit = uint64_t{1} << target % 64;
  std::atomic<uint64_t>& posts = part(rank_).posts_from(target);
  if (!is_unchecked) {
    if ((posts.load(std::memory_order_acquire) & bit) == 0) return false;  // pairs with post()
    posts.fetch_and(~bit, std::memory_order_relaxed);
  }
  epochs_.set_target(target, Access::kStarted);
  return true;
}

void Window::complete() {
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (epochs_.target(rank) != Access::kStarted || is_remote(rank)) continue;
    epochs_.set_target(rank, Access::kNone);
    part(rank).completed.fetch_add(1, std::memory_order_release);  // pairs with end_exposure()
    group_.wake_one(index_of(rank));
  }
}

void Window::unlock(uint32_t target, Access access) {
  Part& part = this->part(target);
  Part& common = first_part();
  if (access == Access::kShared)
    part.lock.unlock_shared();
  else if (access != Access::kUnchecked)
    part.lock.unlock_exclusive();
  const bool is_last = access == Access::kExclusive && common.turns.leave_exclusive();
  group_.light_fence();  // the stores before the loads of who waits; see Wait::arm
  const bool may_have_lock_all = access == Access::kUncountedExclusive
                                     ? part.lock.has_lock_all()
                                     : is_last && common.turns.has_queue();
  if (may_have_lock_all)
    group_.wake();
  else if (part.lock.has_waiters())
    wake_line(target);
}

void Window::wake_line(uint32_t target) const {
  // The change before the loads of who sleeps: see Wait::arm, and Group::wake() about naps.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!group_.has_sleepers()) return;
  const uint32_t index = index_of(target), first = part_at(index).lock.place_to_go_on();
  for (uint32_t n = 0; n < members_here(); ++n)
    if (part_at(n).awaited.is_among(index, first, kAwakeInLine)) group_.wake_one(n);
}

void Window::unlock_all() {
  if (first_part().turns.leave_all()) group_.wake();
}

}  // namespace nagaya::window
