// SPDX-License-Identifier: BSD-3-Clause
// server.h - the host's part of the floors above `task`: the board; the delegatee, in a thread of
// its own, once the job turns out to have several nodes; and another thread once a task has opened
// a file.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "base/fd.h"
#include "delegatee/board_node.h"
#include "delegatee/contact.h"
#include "delegatee/delegatee.h"
#include "delegatee/files/file_thread.h"
#include "delegatee/placement.h"
#include "delegatee/question.h"
#include "llcl/board/board.h"
#include "task/host/upper_floor.h"

namespace nagaya::delegatee {

class Server : public task::UpperFloor {
 public:
  // Makes the board in the space, before the host serves. Throws base::Error.
  explicit Server(task::SpaceHeader& space);
  ~Server() override;

  std::string answer(const std::string& question, std::vector<base::Fd> descriptors) override;
  // Prepares the mailboxes of a task that is about to start on these processors.
  void task_starts(const task::TaskRecord& record, std::span<const uint64_t> processors) override;
  void task_ended(const task::TaskRecord& record) override;
  // True while the memory of that ended task is used: the delegatee has pending requests of it, the
  // kernel reads it into a file or writes it from one, another task helps in a copy of it, or may
  // be reading a group that it has made.
  bool holds(const task::TaskRecord& record) const override;
  uint64_t refused_messages() const override {
    return delegatee_ != nullptr ? delegatee_->refused() : 0;
  }
  std::vector<task::RequestCount> requests() const override;

 private:
  std::string contact(const Question& question);
  void connect(const Question& question);
  std::string open(const Question& question, std::vector<base::Fd> descriptors);
  void make_ring();
  void settle_thread();

  task::SpaceHeader& space_;
  base::Mapping memory_;
  base::Mapping ring_memory_;  // with Queue::kRing only
  llcl::Board& board_;
  BoardNode node_;
  const std::optional<Placement> placement_ = Placement::of_machine();
  const Secret secret_ = new_secret();
  Options options_;
  std::unique_ptr<fabric::Fabric> fabric_;  // only thread_ uses it, once that runs
  std::unique_ptr<Delegatee> delegatee_;
  std::thread thread_;
  std::unique_ptr<files::FileThread> files_;
};

}  // namespace nagaya::delegatee
