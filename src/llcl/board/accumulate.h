// SPDX-License-Identifier: BSD-3-Clause
// accumulate.h - carries out accumulates on memory of this node: by the caller, for `self`. An
// element belongs to the block of 4 KiB in which it begins, and changes under that block's stripe.
#pragma once

#include "llcl/board/board.h"
#include "nagaya/llcl.h"

namespace nagaya::llcl {

// Returns 0, -EINVAL.
int accumulate(Board& board, mailbox::Owner self, const nagaya_llcl_accumulation& what);

struct CompareSwap {
  void* target;
  size_t bytes;
  const void *expected, *desired;
  void* before;
};
// Returns 0, -EINVAL.
int compare_swap(Board& board, mailbox::Owner self, const CompareSwap& what);

}  // namespace nagaya::llcl
