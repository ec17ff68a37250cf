// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/files/engine.h"

#ifdef NAGAYA_HAS_URING

#include <liburing.h>
#include <unistd.h>

#include <utility>

namespace nagaya::files {
namespace {

// The calling thread executes what needs no waiting (a write into the page cache, where the file
// system allows that); the kernel's own threads for this ring execute the rest.
class UringEngine : public Engine {
 public:
  // `error`: why there is no ring, a negative errno, or 0.
  explicit UringEngine(int* error)
      : error_(::io_uring_queue_init(kTransfersMax, &ring_, IORING_SETUP_CLAMP)) {
    *error = error_;
  }
  ~UringEngine() override {
    if (error_ == 0) ::io_uring_queue_exit(&ring_);
  }

  void start(Transfer& transfer) override {
    io_uring_sqe* const entry = ::io_uring_get_sqe(&ring_);  // there are kTransfersMax
    if (transfer.op == Op::kSync)
      ::io_uring_prep_fsync(entry, transfer.fd, IORING_FSYNC_DATASYNC);
    else if (transfer.op == Op::kRead)
      ::io_uring_prep_readv(entry, transfer.fd, transfer.pieces.data(), transfer.count,
                            transfer.offset);
    else
      ::io_uring_prep_writev(entry, transfer.fd, transfer.pieces.data(), transfer.count,
                             transfer.offset);
    ::io_uring_sqe_set_data(entry, &transfer);
    // Refused for want of memory: the entry stays in the ring.
    while (::io_uring_submit(&ring_) < 0) ::usleep(kRetryUs);
  }

  Transfer* finished() override {
    io_uring_cqe* entry = nullptr;
    if (::io_uring_peek_cqe(&ring_, &entry) != 0) return nullptr;
    auto* const transfer = static_cast<Transfer*>(::io_uring_cqe_get_data(entry));
    transfer->result = entry->res;
    ::io_uring_cqe_seen(&ring_, entry);
    return transfer;
  }

  int fd() const override { return ring_.ring_fd; }

 private:
  static constexpr useconds_t kRetryUs = 1000;

  io_uring ring_;
  const int error_;
};

}  // namespace

std::unique_ptr<Engine> open_uring_engine() {
  int error = 0;
  auto engine = std::make_unique<UringEngine>(&error);
  return error == 0 ? std::move(engine) : nullptr;
}

}  // namespace nagaya::files

#else

namespace nagaya::files {

std::unique_ptr<Engine> open_uring_engine() {
  return nullptr;
}

}  // namespace nagaya::files

#endif
