// SPDX-License-Identifier: BSD-3-Clause
// mpi.cc - checkpoints by MPI_File_write_at_all().
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
  Mpi() {
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
    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, kPath, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                        &file),
          "MPI_File_open");
    check(MPI_File_write_at_all(file, static_cast<MPI_Offset>(offset(bytes)), data,
                                static_cast<int>(bytes), MPI_BYTE, MPI_STATUS_IGNORE),
          "MPI_File_write_at_all");
    check(MPI_File_sync(file), "MPI_File_sync");
    check(MPI_File_close(&file), "MPI_File_close");
  }
  void finish() override {}
  uint64_t offset(size_t bytes) const override { return static_cast<uint64_t>(rank) * bytes; }
};

}  // namespace

const char* const kWriter = "MPI_File_write_at_all";

std::unique_ptr<Checkpoints> open_checkpoints() {
  return std::make_unique<Mpi>();
}

}  // namespace nagaya::bench
