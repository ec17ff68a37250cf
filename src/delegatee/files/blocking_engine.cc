// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <unistd.h>

#include "delegatee/files/engine.h"

namespace nagaya::files {
namespace {

int64_t carry_out(const Transfer& transfer) {
  const auto offset = static_cast<off_t>(transfer.offset);
  const auto count = static_cast<int>(transfer.count);
  int64_t result = -1;
  if (transfer.op == Op::kSync)
    result = ::fdatasync(transfer.fd);
  else if (transfer.op == Op::kRead)
    result = ::preadv(transfer.fd, transfer.pieces.data(), count, offset);
  else
    result = ::pwritev(transfer.fd, transfer.pieces.data(), count, offset);
  return result < 0 ? -errno : result;
}

class BlockingEngine : public Engine {
 public:
  void start(Transfer& transfer) override {
    transfer.result = carry_out(transfer);
    ended_[count_++] = &transfer;
  }
  Transfer* finished() override { return count_ == 0 ? nullptr : ended_[--count_]; }
  int fd() const override { return -1; }

 private:
  std::array<Transfer*, kTransfersMax> ended_;
  size_t count_ = 0;
};

}  // namespace

std::unique_ptr<Engine> open_blocking_engine() {
  return std::make_unique<BlockingEngine>();
}

}  // namespace nagaya::files
