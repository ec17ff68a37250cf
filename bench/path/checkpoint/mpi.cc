// SPDX-License-Identifier: BSD-3-Clause
// mpi.cc - checkpoints by MPI_File_write_at_all() or MPI_File_iwrite_at().
#include <mpi.h>

#include <stdexcept>

#include "checkpoint.h"

namespace nagaya::bench {
namespace {

void check(int error, const char* what) {
  if (error != MPI_SUCCESS) throw std::runtime_error(what);
}

class Mpi : public Checkpoints {
 public:
  explicit Mpi(bool starts) : starts_(starts) {
    MPI_Init(nullptr, nullptr);  // its errors end the job; those of files are returned
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  ~Mpi() override { MPI_Finalize(); }

  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  double mean(double value) override {
    double sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / size;
  }
  void start(const std::byte* data, size_t bytes) override {
    check(MPI_File_open(MPI_COMM_WORLD, kPath, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                        &file_),
          "MPI_File_open");
    const auto first = static_cast<MPI_Offset>(offset(bytes));
    const int count = static_cast<int>(bytes);
    if (starts_) {
      check(MPI_File_iwrite_at(file_, first, data, count, MPI_BYTE, &request_),
            "MPI_File_iwrite_at");
      return;
    }
    check(MPI_File_write_at_all(file_, first, data, count, MPI_BYTE, MPI_STATUS_IGNORE),
          "MPI_File_write_at_all");
    store();
  }
  void finish() override {
    if (!starts_) return;
    check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    store();
  }
  uint64_t offset(size_t bytes) const override { return static_cast<uint64_t>(rank) * bytes; }

 private:
  void store() {
    check(MPI_File_sync(file_), "MPI_File_sync");
    check(MPI_File_close(&file_), "MPI_File_close");
  }

  const bool starts_;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

const char* const kWriter = "MPI";

std::unique_ptr<Checkpoints> open_checkpoints(bool starts) {
  return std::make_unique<Mpi>(starts);
}

}  // namespace nagaya::bench
