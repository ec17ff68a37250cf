// SPDX-License-Identifier: BSD-3-Clause
// node_tables.h - the tables of a node that has no space.
#pragma once

#include <cstdlib>
#include <memory>

#include "processes/table_reference.h"

namespace nagaya::processes {

// A node's index, and its memory of tables, which counts.
class NodeTables {
 public:
  NodeTables()
      : index_memory_(std::calloc(1, TableIndex::bytes_for(kSlots)), &std::free),
        index_(TableIndex::create(index_memory_.get(), kSlots)) {}

  TableStore store() {
    return {index_,
            {this,
             [](void* self, uint64_t bytes) -> void* {
               static_cast<NodeTables*>(self)->table_bytes += bytes;
               ++static_cast<NodeTables*>(self)->tables;
               return std::aligned_alloc(kTableAlignment, (bytes + 63) / 64 * 64);
             },
             [](void* self, void* block) {
               --static_cast<NodeTables*>(self)->tables;
               std::free(block);
             }}};
  }

  uint64_t table_bytes = 0;  // of all tables so far
  int tables = 0;            // that exist

 private:
  static constexpr uint32_t kSlots = 64;
  std::unique_ptr<void, void (*)(void*)> index_memory_;
  TableIndex* index_;
};

}  // namespace nagaya::processes
