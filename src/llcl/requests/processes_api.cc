// SPDX-License-Identifier: BSD-3-Clause
// processes_api.cc - the C functions of nagaya/processes.h.
#include <errno.h>

#include <cstdlib>

#include "llcl/requests/processes.h"
#include "task/api_error.h"

using nagaya::llcl::Endpoint;
using nagaya::processes::ProcessSet;
using nagaya::processes::TableIndex;
using nagaya::processes::TableStore;

namespace {

// Returns an index of the process's own: outside of a space nobody shares its tables.
TableStore private_store() {
  static TableIndex* const index = [] {
    void* const memory = std::calloc(1, TableIndex::bytes_for(TableIndex::kWindow));
    return memory == nullptr ? nullptr : TableIndex::create(memory, TableIndex::kWindow);
  }();
  if (index == nullptr) throw std::bad_alloc();
  return {index,
          {nullptr,
           [](void*, uint64_t bytes) {
             constexpr uint64_t kAlignment = nagaya::processes::kTableAlignment;
             return std::aligned_alloc(kAlignment,
                                       (bytes + kAlignment - 1) / kAlignment * kAlignment);
           },
           [](void*, void* block) { std::free(block); }}};
}

// Whether the set lies in a space in which the caller has no part: it is a forked child.
bool is_of_parent(const nagaya_processes& set) {
  return !set.is_outside_of_spaces && Endpoint::own() == nullptr;
}

}  // namespace

int nagaya_processes_open(const nagaya_process* list, uint32_t size, uint32_t rank,
                          nagaya_processes** out) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr && size != 1) return -ESRCH;
  const bool is_member = rank != NAGAYA_NOT_A_MEMBER;
  if (list == nullptr || out == nullptr || size == 0 || (is_member && rank >= size) ||
      (is_member && endpoint != nullptr && !endpoint->is_member({list, size}, rank)))
    return -EINVAL;
  return nagaya::task::guarded([&] {
    const TableStore store = endpoint != nullptr ? tables_of(*endpoint) : private_store();
    auto set = std::make_shared<const ProcessSet>(store, std::span(list, size), rank);
    *out = new nagaya_processes{std::move(set), endpoint == nullptr};
    return 0;
  });
}

int nagaya_processes_close(nagaya_processes* set) {
  if (set == nullptr) return -EINVAL;
  if (is_of_parent(*set)) return -ESRCH;
  delete set;
  return 0;
}

int64_t nagaya_processes_size(const nagaya_processes* set) {
  return is_of_parent(*set) ? -ESRCH : int64_t{set->set->size()};
}

int64_t nagaya_processes_rank(const nagaya_processes* set) {
  if (is_of_parent(*set)) return -ESRCH;
  return set->set->has_caller() ? int64_t{set->set->rank()} : -ENOENT;
}

int nagaya_processes_at(const nagaya_processes* set, uint32_t rank, nagaya_process* out) {
  if (is_of_parent(*set)) return -ESRCH;
  if (rank >= set->set->size()) return -EINVAL;
  *out = set->set->process(rank);
  return 0;
}

int64_t nagaya_processes_rank_of(const nagaya_processes* set, nagaya_process process) {
  if (is_of_parent(*set)) return -ESRCH;
  const int64_t rank = set->set->rank_of(process);
  return rank < 0 ? -ENOENT : rank;
}

int nagaya_processes_are_here(const nagaya_processes* set, uint32_t first, uint32_t count,
                              uint32_t stride) {
  if (is_of_parent(*set)) return -ESRCH;
  if (!set->set->has_caller()) return -EINVAL;
  for (uint32_t n = 0; n < count; ++n) {
    const uint64_t rank = first + uint64_t{n} * stride;
    if (rank >= set->set->size()) return -EINVAL;
    if (!set->set->is_here(static_cast<uint32_t>(rank))) return 0;
  }
  return 1;
}
