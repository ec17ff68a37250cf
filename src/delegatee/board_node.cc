// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/board_node.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace nagaya::delegatee {
namespace {

constexpr size_t kRingRound = 256;  // commands, between two polls of the network
constexpr size_t kLooks = 8;        // bodies that free_bodies() checks in one call

}  // namespace

size_t BoardNode::drain(Visitor& visitor) {
  const auto wanted = [&](uint32_t lane) { return visitor.wanted(lane); };
  const auto take = [&](uint32_t lane, const llcl::Command* commands, size_t count) {
    visitor.visit(lane, commands, count);
  };
  return ring_ != nullptr ? ring_->drain(kRingRound, wanted, take)
                          : board_.lanes->drain(wanted, take, share_);
}

void BoardNode::reclaim(uint32_t task) {
  if (ring_ != nullptr)
    ring_->drop([&](const llcl::Command& command) { return command.requester == task; });
  board_.lanes->reclaim(dead_[task], share_);
  drop_backlog(task);
}

Memory BoardNode::find(uint32_t task, uint32_t region) {
  const llcl::RegionMemory memory = board_.regions->find_region(region, task);
  return {memory.address == nullptr ? -EINVAL : 0, memory.address, memory.bytes};
}

bool BoardNode::is_attached(uint32_t task) const {
  // Acquire: pairs with the store of the task's endpoint.
  return task < board_.capacity && board_.attached[task].load(std::memory_order_acquire) != 0;
}

Delivered BoardNode::deliver(const MessagePart& message) try {
  const bool is_for_port = message.handler >= llcl::kPortHandlers;
  if (is_for_port && !llcl::is_port_message(message.handler, message.bytes)) {
    board_.dropped.fetch_add(1, std::memory_order_relaxed);
    abandon(message.source_node);
    return Delivered::kRefused;
  }
  if (!is_attached(message.task)) {
    abandon(message.source_node);
    return Delivered::kRefused;
  }
  if (!is_for_port &&
      llcl::handler_state_of(board_, message.task) == llcl::TaskWaiter::kNoHandlers) {
    abandon(message.source_node);
    return Delivered::kUnheard;
  }
  const size_t cell_max_bytes =
      is_for_port ? sizeof(llcl::PortHeader) + llcl::kNoteMaxBytes : llcl::kInlineBodyMaxBytes;
  if (message.bytes <= cell_max_bytes) {
    if (message.part.size() != message.bytes) {
      abandon(message.source_node);
      return Delivered::kRefused;
    }
    const Delivered delivered = deliver_whole(message, message.part.data(), nullptr);
    if (delivered != Delivered::kFull) abandon(message.source_node);
    return delivered;
  }
  if (!unfinished_.contains(message.source_node) &&
      !has_room(message.task, Body::cost_of(message.bytes)))
    return Delivered::kFull;
  Body* const body = body_of(message);
  if (body == nullptr) return Delivered::kRefused;
  if (message.bytes != body->size || message.offset > body->size ||
      message.part.size() > body->size - message.offset) {
    abandon(message.source_node);
    return Delivered::kRefused;
  }
  std::copy(message.part.begin(), message.part.end(), body->data.get() + message.offset);
  if (message.offset + message.part.size() < message.bytes) return accepted(message.task);
  const Delivered delivered = deliver_whole(message, body->data.get(), body);
  if (delivered == Delivered::kFull) return delivered;  // Target delivers the same part again later
  unfinished_.erase(message.source_node);
  return delivered;
} catch (const std::bad_alloc&) {
  return Delivered::kFull;  // Target tries again later
}

// Posts a message that is complete. `body`: holds the message if it is longer than a cell.
Delivered BoardNode::deliver_whole(const MessagePart& message, const std::byte* whole, Body* body) {
  if (message.handler >= llcl::kPortHandlers)
    return post_or_keep(
        message.task,
        llcl::Incoming::from_elsewhere(static_cast<uint8_t>(message.handler - llcl::kPortHandlers),
                                       {message.source_node, message.source_task}, whole,
                                       message.bytes, body != nullptr ? &body->done : nullptr));
  llcl::ActiveMessage active{};
  active.handler = message.handler;
  active.source_node = message.source_node;
  active.source_task = message.source_task;
  active.bytes = message.bytes;
  if (body != nullptr)
    active.longer = {whole, &body->done};
  else if (message.bytes != 0)
    std::memcpy(active.body, whole, message.bytes);
  const int error = board_.mailboxes[message.task].post(
      mailbox::Owner::host(), static_cast<uint8_t>(llcl::MessageKind::kActive), &active,
      sizeof active);
  return error == 0 ? accepted(message.task) : Delivered::kFull;
}

// Posts to the task's port. False: there is no room.
bool BoardNode::post(uint32_t task, const llcl::Incoming& message) {
  return board_.ports[task].post(mailbox::Owner::host(), message.kind_and_form, &message.cell,
                                 message.cell_bytes) == 0;
}

// Cost of a late message in the budget [bytes]; the cell of a body is counted with the body.
uint64_t BoardNode::cost_of(const llcl::Incoming& message) {
  return message.form() == llcl::Form::kLent ? 0 : kNoteCost;
}

// Posts to the task's port, or keeps the message in the backlog until there is room.
Delivered BoardNode::post_or_keep(uint32_t task, const llcl::Incoming& message) {
  if (!late_.contains(task) && post(task, message)) return accepted(task);
  const uint64_t cost = cost_of(message);
  if (cost != 0 && !has_room(task, cost)) return Delivered::kFull;
  try {
    Backlog& backlog = backlogs_[task];
    late_.insert(task);
    backlog.late.push_back(message);
    backlog.bytes += cost;
    return accepted(task);
  } catch (const std::bad_alloc&) {
    return Delivered::kFull;
  }
}

bool BoardNode::post_late() {
  std::erase_if(late_, [&](uint32_t task) {
    Backlog& backlog = backlogs_[task];
    for (; !backlog.late.empty() && post(task, backlog.late.front()); backlog.late.pop_front())
      backlog.bytes -= cost_of(backlog.late.front());
    return backlog.late.empty();
  });
  return !late_.empty();
}

// True if the node may hold `bytes` more for the task. False only if its senders have gone on long
// after they were told of its backlog.
bool BoardNode::has_room(uint32_t task, uint64_t bytes) {
  const auto known = backlogs_.find(task);
  if (known == backlogs_.end() || known->second.bytes + bytes <= budget_.max_bytes) return true;
  free_bodies(known->second);
  return known->second.bytes + bytes <= budget_.max_bytes;
}

Delivered BoardNode::accepted(uint32_t task) {
  const auto known = backlogs_.find(task);
  if (known == backlogs_.end() || known->second.bytes <= budget_.warn_bytes)
    return Delivered::kAccepted;
  free_bodies(known->second);
  return known->second.bytes <= budget_.warn_bytes ? Delivered::kAccepted : Delivered::kBacklogged;
}

// Drops the backlog of an ended task. A body that the task has not given back stays: a mailbox may
// still refer to it, which is emptied before the next task of the number starts. So bodies that the
// previous task of this number has left can be freed now.
void BoardNode::drop_backlog(uint32_t task) {
  const auto known = backlogs_.find(task);
  if (known == backlogs_.end()) return;
  for (const llcl::Incoming& message : known->second.late) message.give_back();
  std::erase_if(unfinished_, [&](const auto& entry) {
    if (entry.second.task != task) return false;
    known->second.bodies.erase(entry.second.body);
    return true;
  });
  auto ended = backlogs_.extract(known);  // moving a node of a map allocates nothing
  ended.mapped().late.clear();
  // Acquire: pairs with the task's store, or the host's.
  ended.mapped().bodies.remove_if(
      [](const Body& body) { return body.done.load(std::memory_order_acquire) != 0; });
  left_.erase(task);
  left_.insert(std::move(ended));
  late_.erase(task);
}

// Returns the body that takes the parts of this long message; nullptr: its beginning was refused.
// May throw std::bad_alloc; then nothing has changed.
BoardNode::Body* BoardNode::body_of(const MessagePart& message) {
  const auto known = unfinished_.find(message.source_node);
  if (known != unfinished_.end())
    return known->second.task == message.task ? &*known->second.body : nullptr;
  if (message.offset != 0) return nullptr;
  Backlog& backlog = backlogs_[message.task];
  free_bodies(backlog);
  std::list<Body> fresh;
  fresh.emplace_back(message.bytes);
  unfinished_.emplace(message.source_node, Unfinished{message.task, fresh.begin()});
  backlog.bodies.splice(backlog.bodies.end(), fresh);  // references to it stay valid
  backlog.bytes += Body::cost_of(message.bytes);
  return &backlog.bodies.back();
}

void BoardNode::abandon(uint32_t source_node) {
  const auto known = unfinished_.find(source_node);
  if (known == unfinished_.end()) return;
  Backlog& backlog = backlogs_[known->second.task];
  backlog.bytes -= Body::cost_of(known->second.body->size);
  backlog.bodies.erase(known->second.body);
  unfinished_.erase(known);
}

bool BoardNode::post_completion(uint32_t task, uint64_t request, int status) {
  if (!is_attached(task)) return true;  // nobody is left to be told
  const llcl::CompletionMessage done{request, status, 0};
  return board_.mailboxes[task].post(mailbox::Owner::host(),
                                     static_cast<uint8_t>(llcl::MessageKind::kCompletion), &done,
                                     sizeof done) == 0;
}

// Stores only the first lost node, and wakes all tasks.
void BoardNode::lost(uint32_t node, int error) {
  llcl::LostNode none{};
  if (board_.lost.compare_exchange_strong(none, {node, error}, std::memory_order_relaxed))
    llcl::wake_tasks(board_);
}

// Frees the oldest bodies that are read; unread ones go to the end of the list.
void BoardNode::free_bodies(Backlog& backlog) {
  for (size_t n = std::min(backlog.bodies.size(), kLooks); n > 0; --n) {
    const auto oldest = backlog.bodies.begin();
    // Acquire: pairs with the task's store.
    if (oldest->done.load(std::memory_order_acquire) != 0) {
      backlog.bytes -= Body::cost_of(oldest->size);
      backlog.bodies.erase(oldest);
    } else {
      backlog.bodies.splice(backlog.bodies.end(), backlog.bodies, oldest);
    }
  }
}

}  // namespace nagaya::delegatee
