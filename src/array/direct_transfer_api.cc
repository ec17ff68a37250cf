// SPDX-License-Identifier: BSD-3-Clause
// direct_transfer_api.cc - assignments between sections that one process makes alone, in the memory
// of the others.
#include <errno.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "array/members.h"
#include "array/transfer_plan.h"
#include "base/catch_errors.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/processes.h"

using nagaya::array::Members;
using nagaya::array::Side;
using nagaya::array::TransferBox;
using nagaya::array::TransferPlan;
using nagaya::base::catch_errors;
using nagaya::llcl::Endpoint;
using nagaya::processes::ProcessSet;

struct nagaya_array_blocks {
  Members members;
  bool has_left = false;
};

namespace {

struct Copy {
  std::byte* to_block;
  const std::byte* from_block;
  TransferBox box;
};

// Copies all boxes. If a block is read and written, it reads all before it writes.
void perform(const std::vector<Copy>& copies) {
  const bool keeps_apart =
      std::ranges::any_of(copies, [](const Copy& one) { return one.to_block == one.from_block; });
  if (!keeps_apart) {
    for (const auto& [to, from, box] : copies) box.box.copy(to + box.to, from + box.from);
    return;
  }
  size_t bytes = 0;
  for (const Copy& one : copies) bytes += one.box.box.bytes();
  std::vector<std::byte> packed(bytes);
  std::byte* at = packed.data();
  for (const auto& [to, from, box] : copies) {
    box.box.pack_from(at, from + box.from);
    at += box.box.bytes();
  }
  at = packed.data();
  for (const auto& [to, from, box] : copies) {
    box.box.unpack_to(to + box.to, at);
    at += box.box.bytes();
  }
}

bool is_valid(const ProcessSet& members, const nagaya_array_side& to,
              const nagaya_array_side& from) {
  return members.has_caller() && Side::is_valid(to, members) && Side::is_valid(from, members) &&
         TransferPlan::are_conformable(Side(to, members), Side(from, members));
}

}  // namespace

int nagaya_array_get(const nagaya_processes* processes, const nagaya_array_side* to,
                     const nagaya_array_side* from, nagaya_array_base_of* base_of, void* context) {
  const ProcessSet& members = *processes->set;
  if (members.size() > 1 && Endpoint::own() == nullptr) return -ESRCH;
  return catch_errors([&] {
    if (!is_valid(members, *to, *from)) return -EINVAL;
    const Side to_side(*to, members), from_side(*from, members);
    std::vector<Copy> copies;
    for (TransferBox& box : TransferPlan(to_side, from_side, members).boxes_of(members.rank())) {
      if (!members.is_here(box.source)) return -EHOSTUNREACH;
      const void* const block =
          box.source == members.rank() ? from->base : base_of(context, box.source);
      copies.push_back({static_cast<std::byte*>(to->base), static_cast<const std::byte*>(block),
                        std::move(box)});
    }
    perform(copies);
    return 0;
  });
}

int nagaya_array_put(const nagaya_processes* processes, const uint8_t* acts,
                     const nagaya_array_side* to, const nagaya_array_side* from,
                     nagaya_array_base_of* base_of, void* context) {
  const ProcessSet& members = *processes->set;
  if (members.size() > 1 && Endpoint::own() == nullptr) return -ESRCH;
  return catch_errors([&] {
    if (!is_valid(members, *to, *from)) return -EINVAL;
    const Side to_side(*to, members), from_side(*from, members);
    const std::span<const uint8_t> sources(acts, members.size());
    if (!TransferPlan::can_store(from_side, sources)) return -EINVAL;
    const TransferPlan plan(to_side, from_side, members, sources);
    std::vector<Copy> copies;
    for (uint32_t reader = 0; reader < members.size(); ++reader)
      for (TransferBox& box : plan.boxes_of(reader, members.rank())) {
        if (!members.is_here(reader)) return -EHOSTUNREACH;
        void* const block = reader == members.rank() ? to->base : base_of(context, reader);
        copies.push_back({static_cast<std::byte*>(block), static_cast<const std::byte*>(from->base),
                          std::move(box)});
      }
    perform(copies);
    return 0;
  });
}

int nagaya_array_blocks_open(const nagaya_processes* members, uint64_t name, void* base,
                             nagaya_array_blocks** out) {
  if (name >> 55 != 0 || !members->set->has_caller()) return -EINVAL;
  return catch_errors([&] {
    Endpoint* const endpoint = Endpoint::own();
    if (endpoint == nullptr) return -ESRCH;
    std::unique_ptr<nagaya_array_blocks> blocks(new nagaya_array_blocks{{members->set, name}});
    const int error =
        blocks->members.open(endpoint->board(), endpoint->record(), static_cast<std::byte*>(base));
    if (error == 0) *out = blocks.release();
    return error;
  });
}

void* nagaya_array_blocks_at(nagaya_array_blocks* blocks, uint32_t member) {
  std::byte* base = nullptr;
  const auto is_known = [&] {
    base = blocks->members.base_of(member);
    return base != nullptr;
  };
  if (!is_known()) Endpoint::own()->wait(nagaya::llcl::Purpose::kArray, is_known);
  return base;
}

void nagaya_array_blocks_leave(nagaya_array_blocks* blocks) {
  if (Endpoint::own() != nullptr && !std::exchange(blocks->has_left, true)) blocks->members.leave();
}

void nagaya_array_blocks_close(nagaya_array_blocks* blocks) {
  nagaya_array_blocks_leave(blocks);
  const Members& members = blocks->members;
  const auto is_over = [&] { return members.have_all_left(); };
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint != nullptr && members.base_of(members.rank()) != nullptr && !is_over())
    endpoint->wait(nagaya::llcl::Purpose::kArray, is_over);
  delete blocks;
}
