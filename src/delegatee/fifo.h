// SPDX-License-Identifier: BSD-3-Clause
// fifo.h - a queue that holds no memory before its first use and allocates no more once it has been
// as long as it gets (a std::deque does both).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace nagaya::delegatee {

template <class T>
class Fifo {
 public:
  bool empty() const { return head_ == items_.size(); }
  size_t size() const { return items_.size() - head_; }
  T& front() { return items_[head_]; }
  T& operator[](size_t n) { return items_[head_ + n]; }  // the n-th from the front

  void push(T item) {
    if (items_.size() == items_.capacity() && head_ > items_.size() / 2) {
      items_.erase(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(head_));
      head_ = 0;
    }
    items_.push_back(std::move(item));
  }
  void pop() {
    [[maybe_unused]] const T gone = std::move(items_[head_]);  // frees its memory, too
    if (++head_ == items_.size()) clear();
  }
  // Returns the number of items erased.
  template <class Predicate>
  size_t erase_if(Predicate predicate) {
    const auto end =
        std::remove_if(items_.begin() + static_cast<ptrdiff_t>(head_), items_.end(), predicate);
    const auto count = static_cast<size_t>(items_.end() - end);
    items_.erase(end, items_.end());
    if (empty()) clear();
    return count;
  }
  void clear() {
    items_.clear();
    head_ = 0;
  }

 private:
  std::vector<T> items_;
  size_t head_ = 0;
};

}  // namespace nagaya::delegatee
