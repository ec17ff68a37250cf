// SPDX-License-Identifier: BSD-3-Clause
// upper_floor.h - functions of the floors above that the host calls.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "task/host/wire.h"
#include "task/space/space.h"

namespace nagaya::task {

// All calls come from the host's one thread and must not block.
class UpperFloor {
 public:
  virtual ~UpperFloor() = default;

  // A client's question, in the words of the floor. Throws base::Error: the client is refused.
  virtual std::string answer(const std::string& question) = 0;

  // Before the task of this record starts; bit n % 64 of word n / 64: it may use processor n.
  virtual void task_starts(const TaskRecord& record, std::span<const uint64_t> processors) = 0;

  // The task of this record has ended; nobody has its number until this returns, and as long as
  // holds(record).
  virtual void task_ended(const TaskRecord& record) = 0;

  // Whether something may still read or write the partition of that ended task.
  virtual bool holds(const TaskRecord& record) const = 0;

  // Messages from the network that were dropped, because they did not prove that they were of this
  // job.
  virtual uint64_t refused_messages() const = 0;

  // Requests that tasks of this node have made to other nodes, of each kind; none on a lone node.
  virtual std::vector<RequestCount> requests() const = 0;
};

}  // namespace nagaya::task
