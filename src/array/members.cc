// SPDX-License-Identifier: BSD-3-Clause
#include "array/members.h"

namespace nagaya::array {
int Members::open(llcl::Board& board, task::TaskRecord& self, std::byte* base) {
  std::vector<uint32_t> tasks;
  for (const uint32_t rank : nodes_.ranks_of(nodes_.node_of(rank_)))
    tasks.push_back(processes_[rank].task);
  const int error =
      group_.open(board, self, {llcl::GroupUser::kArray, 0, name_}, tasks, sizeof(Part));
  if (error != 0) return error;
  // Release: the block is zero. Pairs with base_of.
  part(rank_).base.store(base, std::memory_order_release);
  group_.wake();
  return 0;
}

}  // namespace nagaya::array
