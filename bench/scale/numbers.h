// SPDX-License-Identifier: BSD-3-Clause
// numbers.h - a member's buffer of numbers, in pages of its own. Its accesses are simulated; this
// code is compiled without the hooks, so that only the lines count and not the instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace nagaya::bench::scale {

class Numbers {
 public:
  Numbers() = default;
  explicit Numbers(size_t bytes);

  uint64_t* data() { return numbers_.get(); }
  size_t size() const { return count_; }
  uint64_t operator[](size_t n) const { return numbers_.get()[n]; }
  // Number `n` that a member writes in a turn.
  static uint64_t mark(uint32_t rank, size_t n, uint32_t turn) {
    return turn * uint64_t{31} + rank * uint64_t{7} + n + 1;
  }
  void write(uint32_t rank, uint32_t turn);
  void read() const;  // the first number

 private:
  struct Free {
    void operator()(uint64_t* memory) const { std::free(memory); }
  };
  std::unique_ptr<uint64_t, Free> numbers_;
  size_t count_ = 0;
};

// inout[n] += in[n]. The context is the Simulation.
void add_numbers(void* context, const void* in, void* inout, size_t count);

}  // namespace nagaya::bench::scale
