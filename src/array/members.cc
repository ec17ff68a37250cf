// SPDX-License-Identifier: BSD-3-Clause
#include "array/members.h"

namespace nagaya::array {
int Members::open(llcl::Board& board, task::TaskRecord& self, std::byte* base) {
  const llcl::GroupName name = {llcl::GroupUser::kArray, 0, name_};
  const int error = group_.open(board, self, name, processes_->tasks_here(), sizeof(SharedWords));
  if (error != 0) return error;
  // Release: the block is zero. Pairs with base_of.
  own_words().base.store(base, std::memory_order_release);
  group_.wake();
  return 0;
}

}  // namespace nagaya::array
