// SPDX-License-Identifier: BSD-3-Clause
// activity_file.h - the host's side of activity.h: makes the memory file, and tells the tasks what
// is read.
#pragma once

#include "base/fd.h"
#include "llcl/board/board.h"

namespace nagaya::llcl {

class ActivityFile {
 public:
  // Tells the tasks what readers read: kCounts, kLog. The first reader has the file made; when
  // nobody reads logs any more, their memory is freed. Returns the file's descriptor, which stays
  // open; -1: there is no file, and nobody reads. Throws Error.
  int watch(Board& board, uint32_t what);

 private:
  void make(Board& board);

  base::Fd file_;
  base::Mapping memory_;  // tasks may write there as long as they live
};

// Called when the task with this number, which took part, has ended: adds kEnded to its log.
void note_end(Board& board, uint32_t task);

}  // namespace nagaya::llcl
