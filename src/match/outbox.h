// SPDX-License-Identifier: BSD-3-Clause
// outbox.h - sends, answers and cancels for which their receiver's port has had no room.
//
//   sends                in their order for each receiver: behind one that waits, all others wait
//   answers and cancels  overtake sends: a send may wait for a region of memory, which only the
//                        answers of others give back, and these may wait for ours
//
// An answer never lacks memory: its place is kept from before the message that it answers is taken
// out of the port (keep_place, owe) until it is posted (settle) or enters.
//
// Private to a task; its owner serialises.
#pragma once

#include <deque>
#include <list>
#include <unordered_map>

#include "match/cell.h"

namespace nagaya::match {

class Outbox {
 public:
  // An answer or a cancel.
  struct Note {
    nagaya_process to;
    Kind kind;
    Header header;
    uint64_t send;  // a handle
  };

  bool empty() const { return sends_.empty() && notes_.empty(); }
  // Whether a message to that process must wait, because others do.
  bool holds_up(nagaya_process to) const { return !sends_.empty() && sends_.contains(key_of(to)); }

  // May throw std::bad_alloc, then nothing has changed.
  void enter(nagaya_send& send) {
    const auto [queue, is_new] = sends_.try_emplace(key_of(send.to));
    try {
      queue->second.push_back(&send);
    } catch (...) {
      if (is_new) sends_.erase(queue);
      throw;
    }
  }
  // False: it is not there.
  bool withdraw(const nagaya_send& send) {
    const auto queue = sends_.find(key_of(send.to));
    if (queue == sends_.end() || std::erase(queue->second, &send) == 0) return false;
    if (queue->second.empty()) sends_.erase(queue);
    return true;
  }

  // For one more note than are owed. May throw std::bad_alloc, then nothing has changed.
  void keep_place() {
    if (places_.size() <= owed_) places_.emplace_back();
  }
  void owe() { ++owed_; }
  // One that was owed is posted, or not needed.
  void settle() { --owed_; }
  // After keep_place(), or settle().
  void enter(const Note& note) {
    places_.front() = note;
    notes_.splice(notes_.end(), places_, places_.begin());
  }

  // As far as there is room: post(note) and begin(send) say whether that has left the outbox. How
  // many have. Of notes, a look tries few in vain, and the next one tries the others.
  template <class Post, class Begin>
  int flush(Post post, Begin begin) {
    int count = 0;
    int refused = 0;
    for (size_t left = notes_.size(); left != 0 && refused < kRefusedMax; --left) {
      const bool has_left = post(notes_.front());
      std::list<Note>& next = has_left ? places_ : notes_;
      next.splice(next.end(), notes_, notes_.begin());
      has_left ? ++count : ++refused;
    }
    for (auto to = sends_.begin(); to != sends_.end();) {
      std::deque<nagaya_send*>& queue = to->second;
      for (; !queue.empty() && begin(*queue.front()); queue.pop_front()) ++count;
      to = queue.empty() ? sends_.erase(to) : std::next(to);
    }
    return count;
  }

 private:
  static constexpr int kRefusedMax = 16;  // notes that one look tries in vain

  static uint64_t key_of(nagaya_process process) {
    return uint64_t{process.node} << 32 | process.task;
  }

  std::unordered_map<uint64_t, std::deque<nagaya_send*>> sends_;  // by key_of
  std::list<Note> notes_, places_;
  size_t owed_ = 0;
};

}  // namespace nagaya::match
