// SPDX-License-Identifier: BSD-3-Clause
// outbox.h - sends, answers and cancels that wait until their receiver's port has room.
//
//   sends                in order for each receiver: all later sends wait behind one that waits
//   answers and cancels  overtake sends: a send may wait for a region of memory, which only answers
//                        of other tasks free, and those tasks may wait for answers of this one
//
// An answer never lacks memory: its place is reserved before the message that it answers is taken
// out of the port (reserve_place, add_owed_answer), until the answer is posted (remove_owed_answer)
// or enters the outbox.
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
    uint64_t send_handle;  // the sender's handle of the send that this is about
  };

  bool empty() const { return sends_.empty() && notes_.empty(); }
  // Whether a new message to that process must wait, because earlier sends to it do.
  bool has_sends_to(nagaya_process to) const {
    return !sends_.empty() && sends_.contains(key_of(to));
  }

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
  // Removes the send. Returns false if it is not in the outbox.
  bool withdraw(const nagaya_send& send) {
    const auto queue = sends_.find(key_of(send.to));
    if (queue == sends_.end() || std::erase(queue->second, &send) == 0) return false;
    if (queue->second.empty()) sends_.erase(queue);
    return true;
  }

  // Makes sure that one place is free beyond those for the owed answers. May throw std::bad_alloc,
  // then nothing has changed.
  void reserve_place() {
    if (places_.size() <= owed_) places_.emplace_back();
  }
  // A message was taken out of the port that needs an answer.
  void add_owed_answer() { ++owed_; }
  // An owed answer is about to be posted, or is not needed any more.
  void remove_owed_answer() { --owed_; }
  // Uses the place that reserve_place() or remove_owed_answer() has left free.
  void enter(const Note& note) {
    places_.front() = note;
    notes_.splice(notes_.end(), places_, places_.begin());
  }

  // Tries all notes and sends: post(note) and begin(send) return whether theirs left the outbox.
  // Returns how many left. One call gives up after kRefusedMax refused notes; the next one
  // continues with the rest.
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
  static constexpr int kRefusedMax = 16;  // refused notes after which flush() gives up

  static uint64_t key_of(nagaya_process process) {
    return uint64_t{process.node} << 32 | process.task;
  }

  std::unordered_map<uint64_t, std::deque<nagaya_send*>> sends_;  // by key_of
  std::list<Note> notes_, places_;  // places_: list nodes for later notes
  size_t owed_ = 0;                 // number of answers that are owed
};

}  // namespace nagaya::match
