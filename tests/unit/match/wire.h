// SPDX-License-Identifier: BSD-3-Clause
// wire.h - nodes of a job within the test, and a way between them without a network: a task's
// messages are delivered by the other node's half of a delegatee, at once; its reads end when the
// test has them carried.
#pragma once

#include <bit>
#include <deque>
#include <memory>
#include <vector>

#include "delegatee/board_node.h"
#include "llcl/board/command.h"
#include "llcl/board/port_cell.h"
#include "llcl/requests/remote_nodes.h"

namespace nagaya::match {

class Nodes {
 public:
  explicit Nodes(uint32_t count) {
    for (uint32_t number = 0; number < count; ++number) {
      Node& node = all_.emplace_back();
      node.space.capacity = 2;
      node.memory = llcl::create_board(node.space);
      node.board = static_cast<llcl::Board*>(node.space.upper_floors);
      node.board->node = number;
      node.board->nodes = count;
      node.delegatee = std::make_unique<delegatee::BoardNode>(*node.board);
    }
  }
  uint32_t count() const { return static_cast<uint32_t>(all_.size()); }
  llcl::Board& board(uint32_t node) { return *all_[node].board; }
  delegatee::BoardNode& delegatee(uint32_t node) { return *all_[node].delegatee; }

 private:
  struct Node {
    task::SpaceHeader space{};
    base::Mapping memory;
    llcl::Board* board;
    std::unique_ptr<delegatee::BoardNode> delegatee;
  };
  std::deque<Node> all_;
};

class Wire final : public llcl::RemoteNodes {
 public:
  Wire(Nodes& nodes, nagaya_process own, mailbox::Owner owner)
      : nodes_(nodes), own_(own), owner_(owner) {}

  bool has(nagaya_process process) const override { return process.node < nodes_.count(); }

  int send(nagaya_process to, uint8_t kind, const std::byte* message, size_t bytes,
           size_t data_bytes, std::atomic<uint32_t>* done) override {
    last_data_bytes = data_bytes;
    if (send_error != 0) return send_error;
    const auto delivered = nodes_.delegatee(to.node).deliver(
        {to.task, llcl::kPortHandlers + kind, own_.node, own_.task, bytes, 0, {message, bytes}});
    if (delivered == delegatee::Delivered::kFull) return -EAGAIN;
    board().backlogs->note(to.node, to.task, delivered == delegatee::Delivered::kBacklogged);
    if (done != nullptr) done->store(1);
    return 0;
  }

  bool has_backlog(nagaya_process process) const override {
    return board().backlogs->has(process.node, process.task);
  }

  int share(const void* data, size_t bytes, uint32_t& region) override {
    if (shared == most_shared) return -EAGAIN;
    region = board().regions->add(owner_, const_cast<void*>(data), bytes);
    ++shared;
    return 0;
  }
  void unshare(uint32_t region) override {
    EXPECT_EQ(board().regions->remove(owner_, region), 0);
    --shared;
  }

  int read(nagaya_process from, uint32_t region, uint64_t offset, void* to, size_t bytes,
           std::atomic<uint32_t>& done) override {
    if (is_full) return -EAGAIN;
    const llcl::Found place =
        nodes_.board(from.node).regions->find(region, from.task, offset, bytes);
    asked_.push_back({place, {{to, 0, bytes, 1, 0, 0}}, done});
    return 0;
  }
  int read_pieces(nagaya_process from, uint32_t region, std::span<const nagaya_llcl_piece> pieces,
                  std::atomic<uint32_t>& done) override {
    if (is_full) return -EAGAIN;
    const llcl::RegionMemory memory =
        nodes_.board(from.node).regions->find_region(region, from.task);
    llcl::Found place{memory.address, memory.address == nullptr ? -EINVAL : 0};
    for (const nagaya_llcl_piece& piece : pieces) {
      layout::Span span;
      if (!remote_span(std::bit_cast<layout::Piece>(piece), 0, &span) ||
          span.first + span.bytes > memory.bytes)
        place.error = -EINVAL;
    }
    asked_.push_back({place, {pieces.begin(), pieces.end()}, done});
    return 0;
  }

  // How many reads have come.
  int carry() {
    const auto count = static_cast<int>(asked_.size());
    for (; !asked_.empty(); asked_.pop_front()) {
      const Read& read = asked_.front();
      const int error = broken != 0 ? broken : read.place.error;
      for (const nagaya_llcl_piece& piece : read.pieces)
        if (error == 0) copy_piece(false, std::bit_cast<layout::Piece>(piece), read.place.address);
      read.done.store(error == 0 ? 1 : static_cast<uint32_t>(error));
    }
    return count;
  }

  size_t last_data_bytes = 0;  // of the last message: what a proof may leave open
  bool is_full = false;        // no read finds room
  int send_error = 0;          // of every message; -EAGAIN: none finds room
  int broken = 0;              // the error of reads
  int shared = 0;              // regions
  int most_shared = 1000;

 private:
  struct Read {
    llcl::Found place;
    std::vector<nagaya_llcl_piece> pieces;
    std::atomic<uint32_t>& done;
  };

  llcl::Board& board() const { return nodes_.board(own_.node); }

  Nodes& nodes_;
  const nagaya_process own_;
  const mailbox::Owner owner_;
  std::deque<Read> asked_;
};

}  // namespace nagaya::match
