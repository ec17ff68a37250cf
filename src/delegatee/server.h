// SPDX-License-Identifier: BSD-3-Clause
// server.h - the host's part of the floors above `task`: the board; the node's delegatees, each in
// a thread of its own, once the job turns out to have several nodes; and another thread once a task
// has opened a file.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "delegatee/board_node.h"
#include "delegatee/contact.h"
#include "delegatee/delegatee.h"
#include "delegatee/files/file_thread.h"
#include "delegatee/placement.h"
#include "delegatee/question.h"
#include "fabric/module.h"
#include "llcl/board/activity_file.h"
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
  // True while the memory of that ended task is used: a delegatee has pending requests of it, the
  // kernel reads it into a file or writes it from one, another task helps in a copy of it, or may
  // be reading a group that it has made.
  bool holds(const task::TaskRecord& record) const override;
  int set_readers(uint32_t what) override { return activity_.watch(board_, what); }
  uint64_t refused_messages() const override;
  std::vector<task::RequestCount> requests() const override;

 private:
  // A delegatee and all that its thread alone uses once it runs.
  struct Served {
    Served(llcl::Board& board, const std::string& device)
        : node(board), fabric(fabric::open_libfabric(device)) {}

    BoardNode node;
    const Secret secret = new_secret();
    std::unique_ptr<Delegatee> delegatee;
    std::unique_ptr<fabric::Fabric>
        fabric;  // ends before the delegatee's buffers, which it may fill
    std::thread thread;
  };

  bool is_connected() const { return !served_.empty() && served_[0]->thread.joinable(); }
  std::string contact(const Question& question);
  void connect(const Question& question);
  std::string open(const Question& question, std::vector<base::Fd> descriptors);
  void make_ring();
  uint32_t suitable_delegatees(const Options& options) const;
  void start_thread(uint32_t n, const std::vector<std::vector<Contact>>& nodes, uint32_t self);
  void settle_thread(uint32_t n);
  void end_threads();

  task::SpaceHeader& space_;
  base::Mapping memory_;
  base::Mapping ring_memory_;  // with Queue::kRing only
  llcl::Board& board_;
  llcl::ActivityFile activity_;
  const std::optional<Placement> placement_ = Placement::of_machine();
  Options options_;
  std::vector<std::unique_ptr<Served>> served_;  // empty until a task asks for the node's contact
  std::unique_ptr<files::FileThread> files_;
};

}  // namespace nagaya::delegatee
