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

  // Answers a client's question, which may come with descriptors; the floor defines both texts.
  // Throws base::Error to refuse the client.
  virtual std::string answer(const std::string& question, std::vector<base::Fd> descriptors) = 0;

  // Called before the task of this record starts. `processors`: bit n % 64 of word n / 64 is set if
  // the task may use processor n.
  virtual void task_starts(const TaskRecord& record, std::span<const uint64_t> processors) = 0;

  // Called when the task of this record has ended. The host gives its number to no other task until
  // this has returned and holds(record) is false.
  virtual void task_ended(const TaskRecord& record) = 0;

  // Returns true while the floor may still read or write the partition of the ended task of
  // `record`.
  virtual bool holds(const TaskRecord& record) const = 0;

  // Called when the programs that read what tasks do have changed. `what`: all that they read, in
  // bits that the floor defines; 0: there is no reader any more. Returns the descriptor of the file
  // that they read, which stays open; -1 if there is none. Throws base::Error to refuse a reader.
  virtual int set_readers(uint32_t what) = 0;

  // Returns how many messages from the network were dropped because they lacked the proof that they
  // belong to this job.
  virtual uint64_t refused_messages() const = 0;

  // Returns how many requests of each kind tasks of this node have made to other nodes; empty when
  // the job has one node.
  virtual std::vector<RequestCount> requests() const = 0;
};

}  // namespace nagaya::task
