// SPDX-License-Identifier: BSD-3-Clause
// own.cc - checkpoints by nagaya/checkpoint.h: the host writes while the ranks compute.
#include <nagaya/checkpoint.h>
#include <nagaya/comm.h>
#include <nagaya/task.h>

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "checkpoint.h"

namespace nagaya::bench {
namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(-error));
}

class Own : public Checkpoints {
 public:
  Own() {
    if (nagaya_comm_init() != 0) throw std::runtime_error(nagaya_error_text());
    rank = static_cast<int>(nagaya_comm_rank());
    size = static_cast<int>(nagaya_comm_size());
    std::vector<nagaya_process> all(static_cast<size_t>(size));
    for (int n = 0; n < size; ++n)
      check(nagaya_comm_process(n, &all[static_cast<size_t>(n)]), "process");
    nagaya_processes* members = nullptr;
    check(nagaya_processes_open(all.data(), static_cast<uint32_t>(size),
                                static_cast<uint32_t>(rank), &members),
          "members");
    check(nagaya_checkpoint_open(0, members, NAGAYA_CHECKPOINT_SHARED, &checkpoint_), "open");
    nagaya_processes_close(members);
  }
  ~Own() override {
    nagaya_checkpoint_close(checkpoint_);
    nagaya_comm_finalize();
  }

  void barrier() override { check(nagaya_comm_barrier(), "barrier"); }
  double mean(double value) override {
    std::vector<double> all(static_cast<size_t>(size));
    check(nagaya_comm_allgather(&value, sizeof value, all.data()), "allgather");
    return std::accumulate(all.begin(), all.end(), 0.0) / size;
  }
  void start(const std::byte* data, size_t bytes) override {
    const nagaya_checkpoint_piece piece{const_cast<std::byte*>(data), bytes};
    check(nagaya_checkpoint_write(checkpoint_, kPath, &piece, 1), "write");
  }
  void finish() override { check(nagaya_checkpoint_wait(checkpoint_), "wait"); }
  // docs/files.md: behind the padded table, and each rank's data are padded, too.
  uint64_t offset(size_t bytes) const override {
    return kPageBytes +
           static_cast<uint64_t>(rank) * ((bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
  }

 private:
  static constexpr uint64_t kPageBytes = 4096;

  nagaya_checkpoint* checkpoint_ = nullptr;
};

}  // namespace

const char* const kWriter = "Nagaya";

std::unique_ptr<Checkpoints> open_checkpoints(bool) {
  return std::make_unique<Own>();
}

}  // namespace nagaya::bench
