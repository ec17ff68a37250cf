// SPDX-License-Identifier: BSD-3-Clause
// fifo.h - a queue that holds no memory before its first use and allocates no more once it has been
// as long as it gets (a std::deque does both).
#pragma once

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

  void push(T item) {
    if (items_.size() == items_.capacity() && head_ > items_.size() / 2) {
      items_.erase(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(head_));
      head_ = 0;
    }
    items_.push_back(std::move(item));
  }
  void pop() {
    if (++head_ == items_.size()) clear();
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
