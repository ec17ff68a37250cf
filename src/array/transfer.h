// SPDX-License-Identifier: BSD-3-Clause
// transfer.h - assignments between array sections, by a set of processes that all execute them.
//
//   reader    source of it is ready ──► copies its boxes in place ──► counts them as read
//   source    its block is ready ──────────────────────────────────► all readers have read it
//
// Between nodes each source sends one message to each of its readers. If a process writes into the
// block from which others read, it keeps what it reads apart until all of them have read.
#pragma once

#include <memory>
#include <vector>

#include "array/members.h"
#include "array/transfer_plan.h"
#include "nagaya/match.h"

namespace nagaya::array {

// The part of a process in an assignment. Immutable.
struct TransferParts {
  struct Part {
    uint32_t member;  // the other process; for receives perhaps the own one
    std::vector<TransferBox> boxes;
    size_t bytes;  // of all boxes
  };

  TransferParts(const nagaya_array_side& to, const nagaya_array_side& from,
                const processes::ProcessSet& members);

  std::vector<Part> receives, sends;   // sends: to other nodes only
  std::vector<uint32_t> readers_here;  // other processes of this node that read the own block
  size_t to_bytes, from_bytes;         // of the own blocks; 0: it has none
};

// One assignment under way.
class Assignment {
 public:
  // Starts it. May throw std::bad_alloc: nothing has begun.
  Assignment(Members& members, const TransferParts& parts, void* to, const void* from);
  Assignment(const Assignment&) = delete;
  Assignment& operator=(const Assignment&) = delete;

  // Returns whether it is complete: the own part has arrived, and nobody needs the own block.
  bool advance();
  // Returns the first error of a message, or 0.
  int error() const { return error_; }

 private:
  struct Receive {
    const TransferParts::Part* part;
    bool is_message, is_done = false;
    std::vector<std::byte> packed{};  // a message, or what is kept apart
    nagaya_receive message{};
  };
  struct Send {
    std::vector<std::byte> packed;
    nagaya_send message{};
  };

  void start_receive(Receive& receive);
  void start_send(const TransferParts::Part& part, Send& send);
  bool try_receive(Receive& receive);
  void copy(Receive& receive, const std::byte* from);
  void unpack(const Receive& receive);
  bool are_messages_sent();
  void record(int error);

  Members& members_;
  std::byte* const to_;
  const std::byte* const from_;
  bool keeps_apart_;
  bool is_complete_ = false;
  int error_ = 0;
  std::vector<Receive> receives_;
  std::vector<Send> sends_;
};

// All assignments of one set of processes, which execute them in the same order.
class Transfers {
 public:
  Transfers(std::shared_ptr<const processes::ProcessSet> processes, uint64_t name)
      : members_(std::move(processes), name) {}

  int open(llcl::Board& board, task::TaskRecord& self) {
    return members_.open(board, self, nullptr);
  }
  Members& members() { return members_; }
  // The error of an assignment. Processes may wait for the lost message, so no later one begins.
  int error() const { return error_; }
  void fail(int error) { error_ = error; }
  // Returns the own part in an assignment; it remembers those of the last ones. May throw
  // std::bad_alloc.
  const TransferParts& parts_of(const nagaya_array_side& to, const nagaya_array_side& from);

 private:
  struct Planned {
    std::vector<int64_t> signature;  // all that the parts depend on
    std::unique_ptr<TransferParts> parts;
  };
  static constexpr size_t kPlannedMax = 64;

  Members members_;
  std::vector<Planned> planned_;
  size_t oldest_ = 0;
  int error_ = 0;
};

}  // namespace nagaya::array
