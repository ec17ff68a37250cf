// SPDX-License-Identifier: BSD-3-Clause
// operand_reads.h - reads of operands that other nodes lend for their large accumulates. All nodes
// share few buffers, so that their number does not matter.
//
//   free ──start──► reading ──event──► done ──release──► free
//                      └──release──► dropped ──event──► free
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "delegatee/batch.h"
#include "fabric/fabric.h"

namespace nagaya::delegatee {

class OperandReads {
 public:
  static constexpr uint32_t kReads = 8, kNone = UINT32_MAX;
  // Cookies of the fabric from here on are those of reads; a tag of a slot is smaller.
  static constexpr uint64_t kFirstCookie = uint64_t{1} << 32;

  explicit OperandReads(fabric::Fabric& fabric) : fabric_(fabric) {}

  // Starts to read `bytes`, at most kLentMaxBytes, of the node's operands. Returns the number of
  // the read; kNone: no buffer is free, or the fabric has no room.
  uint32_t start(fabric::Node node, const LentOperands& from, size_t bytes) {
    const auto free = std::ranges::find(reads_, State::kFree, &Read::state);
    if (free == reads_.end()) return kNone;
    if (free->buffer == nullptr)
      free->buffer = std::make_unique_for_overwrite<std::byte[]>(kLentMaxBytes);
    const auto number = static_cast<uint32_t>(free - reads_.begin());
    if (!fabric_.try_read(node, free->buffer.get(), bytes, from.region, from.offset,
                          kFirstCookie + number)) {
      was_refused_ = true;
      return kNone;
    }
    free->state = State::kReading;
    return number;
  }
  bool is_done(uint32_t read) const { return reads_[read].state == State::kDone; }
  int error(uint32_t read) const { return reads_[read].error; }  // of a read that is done
  const std::byte* data(uint32_t read) const { return reads_[read].buffer.get(); }
  void release(uint32_t read) {
    reads_[read].state = is_done(read) ? State::kFree : State::kDropped;
  }
  void ended(const fabric::Event& event) {
    Read& read = reads_[event.cookie - kFirstCookie];
    read.error = event.error;
    read.state = read.state == State::kReading ? State::kDone : State::kFree;
  }
  // Whether the fabric had no room for a read since forget_refusals(): nobody rings when it has.
  bool was_refused() const { return was_refused_; }
  void forget_refusals() { was_refused_ = false; }

 private:
  enum class State : uint8_t { kFree, kReading, kDone, kDropped };
  struct Read {
    State state = State::kFree;
    int error = 0;
    std::unique_ptr<std::byte[]> buffer;
  };

  fabric::Fabric& fabric_;
  std::array<Read, kReads> reads_;
  bool was_refused_ = false;
};

}  // namespace nagaya::delegatee
