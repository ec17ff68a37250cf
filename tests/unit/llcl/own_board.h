// SPDX-License-Identifier: BSD-3-Clause
// own_board.h - the board of a node that is the test's own, with room for `tasks`.
#pragma once

#include "llcl/board/board.h"

namespace nagaya::llcl {

class OwnBoard {
 public:
  explicit OwnBoard(uint32_t tasks) {
    space_.capacity = tasks;
    memory_ = create_board(space_);
  }
  OwnBoard(const OwnBoard&) = delete;
  OwnBoard& operator=(const OwnBoard&) = delete;

  Board& operator*() { return *static_cast<Board*>(space_.upper_floors); }
  const base::Mapping& memory() const { return memory_; }

 private:
  task::SpaceHeader space_{};
  base::Mapping memory_;
};

}  // namespace nagaya::llcl
