// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/board_node.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

namespace nagaya::delegatee {
namespace {

constexpr size_t kRingRound = 256;  // commands, between two looks at the network

}  // namespace

size_t BoardNode::drain(Visitor& visitor) {
  const auto wanted = [&](uint32_t lane) { return visitor.wanted(lane); };
  const auto take = [&](uint32_t lane, const llcl::Command* commands, size_t count) {
    visitor.take(lane, commands, count);
  };
  return ring_ != nullptr ? ring_->drain(kRingRound, wanted, take)
                          : board_.lanes->drain(wanted, take);
}

void BoardNode::reclaim(uint32_t task) {
  if (ring_ != nullptr)
    ring_->drop([&](const llcl::Command& command) { return command.requester == task; });
  board_.lanes->reclaim(dead_[task]);
  drop_late(task);
}

Memory BoardNode::find(uint32_t task, uint32_t region) {
  const llcl::Whole whole = board_.regions->whole(region, task);
  return {whole.address == nullptr ? -EINVAL : 0, whole.address, whole.bytes};
}

bool BoardNode::takes_part(uint32_t task) const {
  // Acquire: pairs with the endpoint's.
  return task < board_.capacity && board_.attached[task].load(std::memory_order_acquire) != 0;
}

Delivered BoardNode::deliver(const Message& message) {
  if (!takes_part(message.task)) {
    abandon(message.source_node);
    return Delivered::kNoSuchTask;
  }
  llcl::ActiveMessage active{};
  active.handler = message.handler;
  active.source_node = message.source_node;
  active.source_task = message.source_task;
  active.bytes = message.bytes;
  if (message.bytes > llcl::kInlineBodyMaxBytes) {
    Body* const body = body_of(message);
    if (body == nullptr) return Delivered::kNoSuchTask;
    if (message.bytes != body->size || message.offset > body->size ||
        message.part.size() > body->size - message.offset) {
      abandon(message.source_node);
      return Delivered::kNoSuchTask;
    }
    std::copy(message.part.begin(), message.part.end(), body->data.get() + message.offset);
    if (message.offset + message.part.size() < message.bytes) return Delivered::kAccepted;
    active.longer = {body->data.get(), &body->done};
  } else if (!message.part.empty()) {
    std::memcpy(active.body, message.part.data(), message.part.size());
  }
  const Delivered delivered = post_or_keep(message.task, active);
  if (delivered == Delivered::kAccepted) unfinished_.erase(message.source_node);
  return delivered;
}

// False: there is no room.
bool BoardNode::post(uint32_t task, const llcl::ActiveMessage& message) {
  const bool is_two_sided = message.handler >= llcl::kTwoSidedHandlers;
  const auto kind = is_two_sided ? llcl::MessageKind::kTwoSided : llcl::MessageKind::kActive;
  mailbox::Mailbox& box = (is_two_sided ? board_.two_sided : board_.mailboxes)[task];
  return box.post(mailbox::Owner::host(), static_cast<uint8_t>(kind), &message, sizeof message) ==
         0;
}

Delivered BoardNode::post_or_keep(uint32_t task, const llcl::ActiveMessage& message) {
  const bool is_two_sided = message.handler >= llcl::kTwoSidedHandlers;
  const bool must_wait = is_two_sided && late_.contains(task);
  if (!must_wait && post(task, message)) return Delivered::kAccepted;
  if (!is_two_sided) return Delivered::kFull;
  try {
    late_[task].push_back(message);
    return Delivered::kAccepted;
  } catch (const std::bad_alloc&) {
    return Delivered::kFull;
  }
}

bool BoardNode::post_late() {
  for (auto at = late_.begin(); at != late_.end();) {
    auto& [task, messages] = *at;
    while (!messages.empty() && post(task, messages.front())) messages.pop_front();
    at = messages.empty() ? late_.erase(at) : std::next(at);
  }
  return !late_.empty();
}

// The task has ended.
void BoardNode::drop_late(uint32_t task) {
  const auto known = late_.find(task);
  if (known == late_.end()) return;
  for (const llcl::ActiveMessage& message : known->second)
    if (message.bytes > llcl::kInlineBodyMaxBytes)
      message.longer.done->store(1, std::memory_order_relaxed);
  late_.erase(known);
}

// Where the parts of this long message go. nullptr: there is no memory for it, or its beginning was
// refused.
BoardNode::Body* BoardNode::body_of(const Message& message) {
  const auto known = unfinished_.find(message.source_node);
  if (known != unfinished_.end()) return &*known->second;
  if (message.offset != 0) return nullptr;
  free_bodies();
  try {
    std::list<Body> fresh;
    fresh.emplace_back(message.bytes);
    unfinished_.emplace(message.source_node, fresh.begin());
    bodies_.splice(bodies_.end(), fresh);  // what refers to it stays valid
    return &bodies_.back();
  } catch (const std::exception&) {
    return nullptr;
  }
}

void BoardNode::abandon(uint32_t source_node) {
  const auto known = unfinished_.find(source_node);
  if (known == unfinished_.end()) return;
  bodies_.erase(known->second);
  unfinished_.erase(known);
}

bool BoardNode::post_completion(uint32_t task, uint64_t request, int status) {
  if (!takes_part(task)) return true;  // nobody is left to be told
  const llcl::CompletionMessage done{request, status, 0};
  return board_.mailboxes[task].post(mailbox::Owner::host(),
                                     static_cast<uint8_t>(llcl::MessageKind::kCompletion), &done,
                                     sizeof done) == 0;
}

// A task that died before its handler returned leaves its body to the end of the job. Looks only
// when there are twice as many as there were left the last time: messages may wait for long.
void BoardNode::free_bodies() {
  if (bodies_.size() < 2 * bodies_left_) return;
  // Acquire: pairs with the task's completer.
  std::erase_if(bodies_,
                [](const Body& body) { return body.done.load(std::memory_order_acquire) != 0; });
  bodies_left_ = bodies_.size();
}

}  // namespace nagaya::delegatee
