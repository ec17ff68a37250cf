// SPDX-License-Identifier: BSD-3-Clause
// upper_floor.h - what the floors above do in the host, called by it.
#pragma once

#include <string>

#include "task/space.h"

namespace nagaya::task {

// All calls come from the host's one thread and must not block.
class UpperFloor {
 public:
  virtual ~UpperFloor() = default;

  // A client's question, in the words of the floor. Throws base::Error: the client is refused.
  virtual std::string answer(const std::string& question) = 0;

  // The task of this record has ended; nobody has its number until this returns.
  virtual void task_ended(const TaskRecord& record) = 0;
};

}  // namespace nagaya::task
