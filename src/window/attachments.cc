// SPDX-License-Identifier: BSD-3-Clause
#include "window/attachments.h"

#include <errno.h>

#include <new>

#include "llcl/board/group.h"
#include "mailbox/machine.h"

namespace nagaya::window {
namespace {

constexpr uint32_t kFirstCapacity = 7;

uint64_t value(const std::atomic<uint64_t>& bound) {
  return bound.load(std::memory_order_relaxed);
}

// Marks the regions as changing while it lives.
class Change {
 public:
  explicit Change(std::atomic<uint32_t>& sequence) : sequence_(sequence) {
    sequence_.fetch_add(1, std::memory_order_relaxed);
    // The change comes after it: pairs with the acquire fence of contains().
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Change() { sequence_.fetch_add(1, std::memory_order_release); }  // pairs with contains()
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  std::atomic<uint32_t>& sequence_;
};

}  // namespace

// Returns how many regions begin at `address` or before it.
uint32_t Attachments::regions_up_to(const Table& table, uint64_t address) {
  uint32_t low = 0, high = table.count.load(std::memory_order_relaxed);
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (value(table.region(middle).begin) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool Attachments::has(const Table& table, uint64_t begin, uint64_t end) {
  const uint32_t count = table.count.load(std::memory_order_relaxed);
  uint32_t n = regions_up_to(table, begin);
  if (n == 0) return false;
  uint64_t covered_to = value(table.region(n - 1).end);
  if (covered_to <= begin) return false;
  for (; covered_to < end && n < count && value(table.region(n).begin) == covered_to; ++n)
    covered_to = value(table.region(n).end);
  return covered_to >= end;
}

bool Attachments::contains(uint64_t begin, uint64_t bytes) const {
  uint64_t end = 0;
  if (__builtin_add_overflow(begin, bytes, &end)) return false;
  for (;;) {
    // Acquire: pairs with ~Change.
    const uint32_t sequence = sequence_.load(std::memory_order_acquire);
    const Table* const table = table_.load(std::memory_order_acquire);  // pairs with attach()
    const bool is_there = table != nullptr && has(*table, begin, end);
    std::atomic_thread_fence(std::memory_order_acquire);  // pairs with Change
    if (sequence % 2 == 0 && sequence_.load(std::memory_order_relaxed) == sequence) return is_there;
    mailbox::Machine::yield();
  }
}

// Returns the table if it has room for one more region, else a larger copy; nullptr: no memory.
Attachments::Table* Attachments::table_with_room(const llcl::Group& group) {
  Table* const old = table_.load(std::memory_order_relaxed);
  const uint32_t count = old == nullptr ? 0 : old->count.load(std::memory_order_relaxed);
  if (old != nullptr && count < old->capacity) return old;
  const uint32_t capacity = old == nullptr ? kFirstCapacity : 2 * old->capacity + 1;
  void* const memory = group.allocate(sizeof(Table) + capacity * sizeof(Region));
  if (memory == nullptr) return nullptr;
  auto* const table = new (memory) Table{old, capacity, {}};
  for (uint32_t n = 0; n < capacity; ++n) {
    Region& region = *new (&table->region(n)) Region{};
    if (n >= count) continue;
    region.begin.store(value(old->region(n).begin), std::memory_order_relaxed);
    region.end.store(value(old->region(n).end), std::memory_order_relaxed);
  }
  table->count.store(count, std::memory_order_relaxed);
  return table;
}

int Attachments::attach(const llcl::Group& group, uint64_t base, uint64_t bytes) {
  uint64_t end = 0;
  if (__builtin_add_overflow(base, bytes, &end)) return -EINVAL;
  if (const Table* const old = table_.load(std::memory_order_relaxed); old != nullptr) {
    const uint32_t n = regions_up_to(*old, end - 1);
    if (n != 0 && value(old->region(n - 1).end) > base) return -EEXIST;
  }
  Table* const table = table_with_room(group);
  if (table == nullptr) return -ENOMEM;
  const uint32_t at = regions_up_to(*table, base);
  const uint32_t count = table->count.load(std::memory_order_relaxed);
  const Change change(sequence_);
  for (uint32_t n = count; n > at; --n) {
    table->region(n).begin.store(value(table->region(n - 1).begin), std::memory_order_relaxed);
    table->region(n).end.store(value(table->region(n - 1).end), std::memory_order_relaxed);
  }
  table->region(at).begin.store(base, std::memory_order_relaxed);
  table->region(at).end.store(end, std::memory_order_relaxed);
  table->count.store(count + 1, std::memory_order_relaxed);
  table_.store(table, std::memory_order_release);  // pairs with contains()
  return 0;
}

int Attachments::detach(uint64_t base) {
  Table* const table = table_.load(std::memory_order_relaxed);
  const uint32_t n = table == nullptr ? 0 : regions_up_to(*table, base);
  if (n == 0 || value(table->region(n - 1).begin) != base) return -ENOENT;
  const uint32_t count = table->count.load(std::memory_order_relaxed);
  const Change change(sequence_);
  for (uint32_t m = n; m < count; ++m) {
    table->region(m - 1).begin.store(value(table->region(m).begin), std::memory_order_relaxed);
    table->region(m - 1).end.store(value(table->region(m).end), std::memory_order_relaxed);
  }
  table->count.store(count - 1, std::memory_order_relaxed);
  return 0;
}

void Attachments::free(const llcl::Group& group) {
  for (Table* table = table_.load(std::memory_order_relaxed); table != nullptr;) {
    Table* const older = table->older;
    group.free(table);
    table = older;
  }
  table_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace nagaya::window
