// SPDX-License-Identifier: BSD-3-Clause
// table_reference.h - a task's reference to a shared table, which it gives back.
#pragma once

#include <new>
#include <utility>

#include "base/error.h"
#include "processes/table_index.h"

namespace nagaya::processes {

// Belongs to one thread at a time. The table is read-only: any thread may use it.
template <class Table>
class TableReference {
 public:
  TableReference() = default;
  // Finds the table of `plan`, or makes it. Throws base::Error (the plan's), std::bad_alloc.
  template <class Plan>
  TableReference(TableStore store, const Plan& plan) : store_(store) {
    const int error = store.index->intern(plan, store.memory, table_);
    if (error == -ENOMEM) throw std::bad_alloc();
    if (error != 0) throw base::Error(error, "a process does not exist, or is there twice");
  }
  TableReference(TableReference&& other) noexcept
      : store_(other.store_), table_(std::exchange(other.table_, nullptr)) {}
  TableReference& operator=(TableReference&& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(table_, other.table_);
    return *this;
  }
  ~TableReference() {
    if (table_ != nullptr) store_.index->drop(table_->head, store_.memory);
  }

  const Table* get() const { return table_; }  // nullptr: it refers to none
  const Table* operator->() const { return table_; }
  const Table& operator*() const { return *table_; }

 private:
  TableStore store_{};
  const Table* table_ = nullptr;
};

}  // namespace nagaya::processes
