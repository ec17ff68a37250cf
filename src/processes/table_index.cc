// SPDX-License-Identifier: BSD-3-Clause
#include "processes/table_index.h"

namespace nagaya::processes {
namespace {

constexpr uint32_t kReferenceBits = 22;
constexpr uint64_t kReferencesMax = (1ull << kReferenceBits) - 1;
// 48 bits of address, the lowest 6 of them zero: 42 bits.
static_assert(kTableAlignment == 1ull << (48 + kReferenceBits - 64));

uint64_t word_of(const void* table, uint64_t references) {
  return reinterpret_cast<uint64_t>(table) << (kReferenceBits - 6) | references;
}
SharedTable* table_of(uint64_t word) {
  return reinterpret_cast<SharedTable*>((word & ~kReferencesMax) >> (kReferenceBits - 6));
}
uint64_t references_of(uint64_t word) {
  return word & kReferencesMax;
}
bool fits(const void* table) {
  return table_of(word_of(table, 0)) == table;
}

// Adds a reference to the slot's table, and returns it; nullptr: the slot is empty, or its count is
// at the maximum.
const SharedTable* add_reference(std::atomic<uint64_t>& slot) {
  uint64_t word = slot.load(std::memory_order_relaxed);
  do {
    if (word == 0 || references_of(word) == kReferencesMax) return nullptr;
    // Acquire: pairs with publish's release, the table is read after this.
  } while (!slot.compare_exchange_weak(word, word + 1, std::memory_order_acquire,
                                       std::memory_order_relaxed));
  return table_of(word);
}

void drop_reference(std::atomic<uint64_t>& slot, Memory memory) {
  uint64_t word = slot.load(std::memory_order_relaxed);
  uint64_t less;
  do {
    less = references_of(word) == 1 ? 0 : word - 1;
    // Release: this task has read the table. Acquire: pairs with the releases of earlier drops, so
    // that the last dropper may free it.
  } while (!slot.compare_exchange_weak(word, less, std::memory_order_acq_rel,
                                       std::memory_order_relaxed));
  if (less == 0) memory.free(memory.context, table_of(word));
}

template <class Plan>
int build(const Plan& plan, Memory memory, typename Plan::Table*& out) {
  void* block = memory.allocate(memory.context, plan.bytes());
  if (block == nullptr) return -ENOMEM;
  out = static_cast<typename Plan::Table*>(block);
  const int error = plan.write(*out);
  if (error != 0) memory.free(memory.context, block);
  return error;
}

}  // namespace

TableIndex* TableIndex::create(void* memory, uint32_t slot_count) {
  auto* index = static_cast<TableIndex*>(memory);
  index->slot_count = slot_count;
  index->stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(TableIndex), 0};
  return index;
}

// Returns the table with the plan's content, with a reference added. If there is none, returns
// nullptr, and `empty` is the first empty slot for it (kNoSlot: none).
template <class Plan>
const typename Plan::Table* TableIndex::find(const Plan& plan, Memory memory, uint32_t& empty) {
  empty = kNoSlot;
  for (uint32_t n = 0; n < kWindow; ++n) {
    const auto at = static_cast<uint32_t>(plan.content() + n) & (slot_count - 1);
    // Each slot is loaded once: one that fills up meanwhile still counts as the empty one, so that
    // the compare-and-swap of intern() fails and its table is found.
    if (slots[at].load(std::memory_order_relaxed) == 0) {
      if (empty == kNoSlot) empty = at;
    } else if (const SharedTable* table = add_reference(slots[at])) {
      const auto& found = *reinterpret_cast<const typename Plan::Table*>(table);
      if (plan.matches(found)) return &found;
      drop_reference(slots[at], memory);
    }
  }
  return nullptr;
}

template <class Plan>
int TableIndex::intern(const Plan& plan, Memory memory, const typename Plan::Table*& out) {
  if (plan.error() != 0) return plan.error();
  typename Plan::Table* own = nullptr;
  for (;;) {
    uint32_t empty;
    if (const auto* found = find(plan, memory, empty)) {
      if (own != nullptr) memory.free(memory.context, own);
      out = found;
      return 0;
    }
    if (own == nullptr) {
      if (const int error = build(plan, memory, own); error != 0) return error;
      continue;  // somebody may have been faster
    }
    out = own;
    if (empty == kNoSlot || !fits(own)) return 0;
    own->head.slot = empty;
    uint64_t nothing = 0;
    // Release: pairs with add_reference's acquire, the table is complete.
    if (slots[empty].compare_exchange_strong(nothing, word_of(own, 1), std::memory_order_release,
                                             std::memory_order_relaxed))
      return 0;
    own->head.slot = kNoSlot;
  }
}

template int TableIndex::intern(const NodePlan&, Memory, const NodeTable*&);
template int TableIndex::intern(const RankPlan&, Memory, const RankTable*&);

void TableIndex::drop(const SharedTable& table, Memory memory) {
  if (table.slot != kNoSlot) return drop_reference(slots[table.slot], memory);
  memory.free(memory.context, const_cast<SharedTable*>(&table));
}

}  // namespace nagaya::processes
