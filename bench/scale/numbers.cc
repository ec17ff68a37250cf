// SPDX-License-Identifier: BSD-3-Clause
#include "scale/numbers.h"

#include <algorithm>
#include <new>

#include "scale/simulation.h"

namespace nagaya::bench::scale {

Numbers::Numbers(size_t bytes) : count_(bytes / sizeof(uint64_t)) {
  constexpr size_t kPage = 4096;
  numbers_.reset(static_cast<uint64_t*>(
      std::aligned_alloc(kPage, std::max<size_t>((bytes + kPage - 1) / kPage, 1) * kPage)));
  if (numbers_ == nullptr) throw std::bad_alloc();
  std::fill_n(numbers_.get(), count_, 0);
}

void Numbers::write(uint32_t rank, uint32_t turn) {
  constexpr double kNumberNs = 0.6;        // as bench/path/collectives.cc takes
  constexpr size_t kLongBytes = 64 << 10;  // it writes one of a line then
  if (auto* const simulation = Simulation::current()) {
    simulation->store(numbers_.get(), count_ * sizeof(uint64_t));
    if (count_ * sizeof(uint64_t) < kLongBytes)
      simulation->compute(kNumberNs * static_cast<double>(count_));
  }
  for (size_t n = 0; n < count_; ++n) numbers_.get()[n] = mark(rank, n, turn);
}

void Numbers::read() const {
  auto* const simulation = Simulation::current();
  if (simulation != nullptr && count_ != 0) simulation->load(numbers_.get(), sizeof(uint64_t));
}

void add_numbers(void* context, const void* in, void* inout, size_t count) {
  // Members that are warmed up add, too.
  static_cast<Simulation*>(context)->reduce(inout, in, count * sizeof(uint64_t));
  const auto* const from = static_cast<const uint64_t*>(in);
  auto* const to = static_cast<uint64_t*>(inout);
  for (size_t n = 0; n < count; ++n) to[n] += from[n];
}

}  // namespace nagaya::bench::scale
