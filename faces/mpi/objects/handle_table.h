// SPDX-License-Identifier: BSD-3-Clause
// handle_table.h - finds our part of an object by the handle that the MPI beneath has given it.
//
// An open-addressed table of a power of two. Readers take no lock; one writer at a time. A table
// that has grown leaves the earlier one to readers that are in it, and is rebuilt only after many
// new handles: MPIs give the handles of freed objects to new ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace nagaya::mpi {

template <class Object>
class HandleTable {
 public:
  HandleTable() : table_(add_table(kFirstSlots)) {}

  // Returns nullptr if the handle has no object. The caller keeps others from erasing it meanwhile.
  Object* find(uintptr_t handle) const {
    const Table& table = *table_.load(std::memory_order_acquire);  // pairs with grow
    for (size_t n = slot_of(handle, table);; n = (n + 1) & table.mask) {
      const uintptr_t key =
          table.slots[n].key.load(std::memory_order_acquire);  // pairs with insert
      if (key == handle) return table.slots[n].object.load(std::memory_order_acquire);
      if (key == kEmpty) return nullptr;
    }
  }

  // Adds a handle, or replaces its object. Throws std::bad_alloc.
  void insert(uintptr_t handle, Object* object) {
    const std::lock_guard guard(lock_);
    if (Slot* const slot = slot_with(handle))
      return slot->object.store(object, std::memory_order_release);
    if ((used_ + 1) * 2 > table_.load(std::memory_order_relaxed)->mask) grow();
    put(*table_.load(std::memory_order_relaxed), handle, object);
    ++used_;
  }

  // Returns the object, or nullptr.
  Object* erase(uintptr_t handle) {
    const std::lock_guard guard(lock_);
    Slot* const slot = slot_with(handle);
    return slot != nullptr ? slot->object.exchange(nullptr, std::memory_order_acq_rel) : nullptr;
  }

  // Erases a handle, unless it belongs to another object by now: the MPI beneath gives the handle
  // of a freed object to a new one.
  void erase(uintptr_t handle, Object* object) {
    const std::lock_guard guard(lock_);
    Slot* const slot = slot_with(handle);
    if (slot != nullptr)
      slot->object.compare_exchange_strong(object, nullptr, std::memory_order_acq_rel);
  }

  template <class Act>
  void for_each(Act act) {
    const std::lock_guard guard(lock_);
    const Table& table = *table_.load(std::memory_order_relaxed);
    for (size_t n = 0; n <= table.mask; ++n)
      if (Object* const object = table.slots[n].object.load(std::memory_order_relaxed))
        act(*object);
  }

 private:
  static constexpr uintptr_t kEmpty = ~uintptr_t{0};  // no MPI has such a handle
  static constexpr size_t kFirstSlots = 64;
  struct Slot {
    std::atomic<uintptr_t> key = kEmpty;    // never changes once it is set
    std::atomic<Object*> object = nullptr;  // nullptr: erased
  };
  struct Table {
    explicit Table(size_t slots_count) : mask(slots_count - 1), slots(new Slot[slots_count]) {}
    size_t mask;
    std::unique_ptr<Slot[]> slots;
  };

  static size_t slot_of(uintptr_t handle, const Table& table) {
    return (handle * 0x9e3779b97f4a7c15 >> 32) & table.mask;
  }
  Table* add_table(size_t slots) {
    tables_.push_back(std::make_unique<Table>(slots));
    return tables_.back().get();
  }
  static void put(Table& table, uintptr_t handle, Object* object) {
    size_t n = slot_of(handle, table);
    while (table.slots[n].key.load(std::memory_order_relaxed) != kEmpty) n = (n + 1) & table.mask;
    table.slots[n].object.store(object, std::memory_order_relaxed);
    table.slots[n].key.store(handle, std::memory_order_release);  // pairs with find
  }
  Slot* slot_with(uintptr_t handle) {
    const Table& table = *table_.load(std::memory_order_relaxed);
    for (size_t n = slot_of(handle, table);; n = (n + 1) & table.mask) {
      const uintptr_t key = table.slots[n].key.load(std::memory_order_relaxed);
      if (key == handle) return &table.slots[n];
      if (key == kEmpty) return nullptr;
    }
  }
  // Leaves erased handles out, and doubles the table if the others fill it.
  void grow() {
    const Table& old = *table_.load(std::memory_order_relaxed);
    size_t live = 0;
    for (size_t n = 0; n <= old.mask; ++n)
      live += old.slots[n].object.load(std::memory_order_relaxed) != nullptr;
    Table* const larger = add_table((old.mask + 1) * (live * 4 > old.mask ? 2 : 1));
    for (size_t n = 0; n <= old.mask; ++n)
      if (Object* const object = old.slots[n].object.load(std::memory_order_relaxed))
        put(*larger, old.slots[n].key.load(std::memory_order_relaxed), object);
    used_ = live;
    table_.store(larger, std::memory_order_release);  // pairs with find
  }

  std::mutex lock_;  // of writers
  std::vector<std::unique_ptr<Table>> tables_;
  std::atomic<Table*> table_;
  size_t used_ = 0;  // slots of the last table, erased ones too
};

}  // namespace nagaya::mpi
