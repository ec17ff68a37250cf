// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/parked.h"

#include <cerrno>

#include "llcl/requests/completion.h"
#include "task/space/space_heap.h"

namespace nagaya::llcl {

void Parked::add(uint32_t task, const ActiveMessage& message,
                 const nagaya_completion& on_complete) {
  receivers_.resize(board_.capacity);
  // Acquire: pairs with the store in the constructor of the receiver's Endpoint.
  const mailbox::Owner receiver{board_.attached[task].load(std::memory_order_acquire)};
  messages_.push_back({task, receiver, message, on_complete, 0});
  ++receivers_[task].messages;
  bytes_ += message.bytes;
  tell_load();
}

// Sets and clears kOverloaded. It is cleared at half of the limits, so that it does not change with
// each message.
void Parked::tell_load() {
  const size_t count = messages_.size() + commands_.size();
  const bool is_above = count > kMax || bytes_ > kBytesMax;
  const bool is_below = count <= kMax / 2 && bytes_ <= kBytesMax / 2;
  if (is_overloaded_ ? !is_below : !is_above) return;
  is_overloaded_ = !is_overloaded_;
  // Relaxed: the task has handled messages before.
  board_.task_waiters[self_.number()].handler_state.store(
      is_overloaded_ ? TaskWaiter::kOverloaded : TaskWaiter::kHandling, std::memory_order_relaxed);
}

void Parked::retry_messages() {
  std::list<Message> done;
  ++retries_;
  for (auto next = messages_.begin(); next != messages_.end();) {
    const auto parked = next++;
    Receiver& receiver = receivers_[parked->task];
    if (receiver.full_in_retry == retries_) continue;  // keeps the order of its messages
    if (!is_done(*parked)) {
      receiver.full_in_retry = retries_;
      continue;
    }
    --receiver.messages;
    bytes_ -= parked->message.bytes;
    done.splice(done.end(), messages_, parked);
  }
  tell_load();
  for (const Message& one : done) complete(one.on_complete, one.error);  // may park more
}

bool Parked::is_done(Message& parked) {
  // Acquire: pairs with the store in the constructor of the receiver's Endpoint.
  const uint32_t attached = board_.attached[parked.task].load(std::memory_order_acquire);
  parked.error = attached == parked.receiver.bits
                     ? post_message(board_, self_, parked.task, parked.message)
                     : -EINVAL;
  if (parked.error == -EAGAIN) return false;
  if (parked.error != 0) free_body(record_, parked.message);
  return true;
}

int post_message(Board& board, mailbox::Owner sender, uint32_t task, const ActiveMessage& message) {
  return board.mailboxes[task].post(sender, static_cast<uint8_t>(MessageKind::kActive), &message,
                                    sizeof message);
}

void free_body(task::TaskRecord& record, const ActiveMessage& message) {
  if (message.bytes > kInlineBodyMaxBytes)
    task::heap_free(record, const_cast<std::byte*>(message.longer.address));
}

}  // namespace nagaya::llcl
