// SPDX-License-Identifier: BSD-3-Clause
// engine.h - how the I/O thread has the kernel carry out transfers: by io_uring, or by blocking
// calls where the kernel or the build has none.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>

#include "delegatee/files/intake.h"

namespace nagaya::files {

// One call of the kernel: adjacent bytes of one file, from or to several places in memory.
struct Transfer {
  static constexpr size_t kPiecesMax = 256;
  static constexpr uint64_t kBytesMax = 8 << 20;

  Op op;  // no kClose
  int fd;
  uint64_t offset;
  uint32_t count;  // of the pieces; kSync: 0
  std::array<iovec, kPiecesMax> pieces;
  int64_t result;  // bytes, or a negative errno; set by the engine
};

// Used by one thread.
class Engine {
 public:
  static constexpr size_t kTransfersMax = 64;  // in progress at once

  virtual ~Engine() = default;
  // Starts a transfer, which stays until finished() returns it. Throws nothing.
  virtual void start(Transfer& transfer) = 0;
  // Returns a transfer that has ended, or nullptr. Throws nothing.
  virtual Transfer* finished() = 0;
  // A descriptor that is readable when finished() has something; -1: no transfer ends later than
  // in start().
  virtual int fd() const = 0;
};

// Returns nullptr where the kernel does not offer io_uring, or forbids it.
std::unique_ptr<Engine> open_uring_engine();
std::unique_ptr<Engine> open_blocking_engine();

}  // namespace nagaya::files
