// SPDX-License-Identifier: BSD-3-Clause
// checkpoint.h - the ways to write memory of all ranks to one file: nagaya/checkpoint.h (own.cc),
// and MPI_File_write_at_all() or MPI_File_iwrite_at() (mpi.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace nagaya::bench {

inline constexpr const char* kPath = "checkpoint.data";

class Checkpoints {
 public:
  virtual ~Checkpoints() = default;

  int rank = 0;
  int size = 1;

  virtual void barrier() = 0;
  // Collective: returns the mean of all ranks' values.
  virtual double mean(double value) = 0;
  // Collective: writes `bytes` of each rank, in the order of the ranks, between these two calls, in
  // the first or in the background. The file is on the storage then.
  virtual void start(const std::byte* data, size_t bytes) = 0;
  virtual void finish() = 0;
  // Where the data of this rank lie in the file.
  virtual uint64_t offset(size_t bytes) const = 0;
};

// Collective. `starts`: by requests, if the writer has both ways. Throws std::exception.
std::unique_ptr<Checkpoints> open_checkpoints(bool starts);
extern const char* const kWriter;  // for people

}  // namespace nagaya::bench
