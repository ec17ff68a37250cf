// SPDX-License-Identifier: BSD-3-Clause
// backlog_target.h - other nodes send to tasks that read now and then, or end: what the node holds
// for them stays in its budget, and what it has accepted arrives, once and in order. A message for
// which there is no room comes again, as Target sees to it.
//
//   input: | what, 1 | node and task, 1 | bytes, 2 |  ...
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "delegatee/board_node.h"
#include "llcl/board/port_cell.h"

namespace nagaya::fuzz {

using namespace nagaya::delegatee;

class CrowdedNode {
 public:
  static constexpr uint32_t kTasks = 2, kNodes = 3;
  static constexpr BacklogBudget kBudget{8 << 10, 128 << 10};  // above any message

  CrowdedNode()
      : memory_(llcl::create_board(space_with(kTasks))),
        board_(*static_cast<llcl::Board*>(space_.upper_floors)),
        node_(board_, kBudget) {
    for (task::TaskRecord& record : records_) record.space = &space_;
    for (uint32_t task = 0; task < kTasks; ++task) start(task);
  }

  // The next message of the node to that task, in parts; first what had no room before. kFull:
  // there is none.
  Delivered send(uint32_t source, uint32_t task, uint32_t body_bytes, uint32_t part_bytes) {
    std::optional<Message>& waiting = waiting_[source];
    if (!waiting) {
      waiting = Message{task, {}, 0, part_bytes};
      const llcl::PortHeader header{{generation_[task], ++sent_[{source, task}], body_bytes, 0}};
      waiting->bytes.resize(sizeof header + body_bytes, static_cast<std::byte>(body_bytes));
      std::memcpy(waiting->bytes.data(), &header, sizeof header);
    }
    const Delivered delivered = send_parts(source, *waiting);
    if (delivered != Delivered::kFull) waiting.reset();
    check();
    return delivered;
  }
  // The rest of what waits will not come.
  void cancel(uint32_t source) {
    std::optional<Message>& waiting = waiting_[source];
    if (!waiting) return;
    node_.abandon(source);
    --sent_[{source, waiting->task}];
    waiting.reset();
  }
  // As the task does: takes up to `most`, and gives bodies back, unless it keeps them.
  size_t read(uint32_t task, size_t most, bool keeps_bodies = false) {
    size_t count = 0;
    for (; count < most; ++count) {
      const mailbox::Message message = board_.ports[task].take();
      if (!message) break;
      llcl::Incoming incoming;
      incoming.copy_from(message);
      take(task, incoming);
      if (!keeps_bodies) incoming.give_back();
    }
    node_.post_late();
    check();
    return count;
  }
  // The task ends, and another one gets its number.
  void end(uint32_t task) {
    node_.note_dead(task, llcl::reclaim(board_, task));
    node_.reclaim(task);
    node_.released(task);
    llcl::empty_mailboxes(board_, records_[task]);
    for (uint32_t source = 0; source < kNodes; ++source) {
      if (waiting_[source] && waiting_[source]->task == task) waiting_[source].reset();
      sent_[{source, task}] = received_[{source, task}] = 0;
    }
    start(task);
    if (node_.backlog_bytes(task) != 0) std::abort();
  }
  // Everything that was accepted is there.
  void read_all() {
    for (uint32_t round = 0; round < 2; ++round)
      for (uint32_t task = 0; task < kTasks; ++task)
        while (read(task, 1000) != 0) continue;
    for (const auto& [way, count] : sent_) {
      const bool waits = waiting_[way.first] && waiting_[way.first]->task == way.second;
      if (received_[way] + (waits ? 1 : 0) != count) std::abort();
    }
  }
  uint64_t left() const { return node_.left_bytes(); }
  uint64_t held(uint32_t task) const { return node_.backlog_bytes(task); }

 private:
  struct Message {
    uint32_t task;
    std::vector<std::byte> bytes;
    size_t sent_bytes;
    uint32_t part_bytes;
  };

  task::SpaceHeader& space_with(uint32_t capacity) {
    space_.capacity = capacity;
    return space_;
  }
  void start(uint32_t task) {
    board_.attached[task] = mailbox::Owner::task(task, ++generation_[task]).bits;
    records_[task].number = task;
  }
  Delivered send_parts(uint32_t source, Message& message) {
    constexpr uint32_t kCellMax = sizeof(llcl::PortHeader) + llcl::kNoteMaxBytes;
    const size_t part_max = message.bytes.size() <= kCellMax ? kCellMax : message.part_bytes;
    for (;;) {
      const std::span<const std::byte> rest = std::span(message.bytes).subspan(message.sent_bytes);
      const auto part = rest.first(std::min(rest.size(), part_max));
      const Delivered delivered = node_.deliver({message.task, llcl::kPortHandlers, source + 1, 0,
                                                 message.bytes.size(), message.sent_bytes, part});
      if (delivered == Delivered::kRefused || delivered == Delivered::kUnheard) std::abort();
      if (delivered == Delivered::kFull) return delivered;
      message.sent_bytes += part.size();
      if (message.sent_bytes == message.bytes.size()) return delivered;
    }
  }
  void take(uint32_t task, const llcl::Incoming& incoming) {
    const auto [generation, serial, bytes, zero] = incoming.cell.header.words;
    const uint32_t source = incoming.source().node - 1;
    if (generation != generation_[task] || source >= kNodes || bytes != incoming.bytes() ||
        serial != ++received_[{source, task}])
      std::abort();
    for (size_t n = 0; n < bytes; ++n)
      if (incoming.body()[n] != static_cast<std::byte>(bytes)) std::abort();
  }
  void check() const {
    for (uint32_t task = 0; task < kTasks; ++task)
      if (held(task) > kBudget.max_bytes) std::abort();
  }

  task::SpaceHeader space_{};
  task::TaskRecord records_[kTasks]{};
  base::Mapping memory_;
  llcl::Board& board_;
  BoardNode node_;
  uint32_t generation_[kTasks] = {};
  std::optional<Message> waiting_[kNodes];
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> sent_, received_;  // from node, to task
};

// `allocated_bytes`: of the whole process now, where that is known.
inline void fill_backlogs(const uint8_t* data, size_t bytes, size_t (*allocated_bytes)()) {
  // Beside the budgets, and the bodies that ended tasks have left.
  constexpr size_t kOthers = 512 << 10;
  const size_t before = allocated_bytes != nullptr ? allocated_bytes() : 0;
  CrowdedNode node;
  for (; bytes >= 4; data += 4, bytes -= 4) {
    const uint32_t what = data[0] % 8, times = data[0] / 8;
    const uint32_t source = data[1] % CrowdedNode::kNodes, task = data[1] / 8 % CrowdedNode::kTasks;
    const uint32_t length = data[2] | uint32_t{data[3]} << 8;
    for (uint32_t n = 0; what < 3 && n <= 64 * times; ++n)  // many that fit into cells
      if (node.send(source, task, length % (llcl::kNoteMaxBytes + 1), 1) == Delivered::kFull) break;
    if (what == 3 || what == 4) node.send(source, task, length, 1 + length % 4000);
    if (what == 5) node.read(task, length % 512, data[1] >= 128);
    if (what == 6) node.cancel(source);
    if (what == 7 && length % 8 == 0) node.end(task);
    if (allocated_bytes != nullptr &&
        allocated_bytes() > before + 2 * node.kTasks * node.kBudget.max_bytes + kOthers)
      std::abort();
  }
  node.read_all();
}
inline void fill_backlogs(const uint8_t* data, size_t bytes) {
  fill_backlogs(data, bytes, nullptr);
}

}  // namespace nagaya::fuzz
