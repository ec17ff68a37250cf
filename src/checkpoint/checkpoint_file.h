// SPDX-License-Identifier: BSD-3-Clause
// checkpoint_file.h - one process's part in one file of a checkpoint.
//
//   | Header | Entry of each rank in the file | padding | data of a rank | padding | data ... |
//                                             to 4 KiB                   to 4 KiB
//
// Numbers have the machine's byte order.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "nagaya/checkpoint.h"
#include "nagaya/file.h"

namespace nagaya::checkpoint {

using Pieces = std::span<const nagaya_checkpoint_piece>;

inline constexpr uint64_t kAlignment = 4096;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t ranks;    // of the whole checkpoint
  uint32_t entries;  // in this file
  uint32_t reserved;
};
struct Entry {
  uint32_t rank;
  uint32_t reserved;
  uint64_t offset;
  uint64_t bytes;
};

// A rank and how many bytes it has.
struct Part {
  uint32_t rank;
  uint64_t bytes;
};

// Returns the beginning of the file of these ranks, padded, in a checkpoint of `ranks`.
std::vector<std::byte> encode(uint32_t ranks, std::span<const Part> parts);
// Returns where the data of a rank lie; offset 0: the file has none of this rank.
Entry entry_of(std::span<const std::byte> beginning, uint32_t rank);

// A file, and the requests for it that the host has. Errors are kept: the first one counts.
class CheckpointFile {
 public:
  CheckpointFile() = default;
  CheckpointFile(const CheckpointFile&) = delete;
  CheckpointFile& operator=(const CheckpointFile&) = delete;
  ~CheckpointFile() { close(); }

  void open(const std::string& path, int flags);
  void write(const void* data, size_t bytes, uint64_t offset);
  void read(void* data, size_t bytes, uint64_t offset);
  void sync();
  // Waits for all requests.
  void finish();
  void close();
  void fail(int error) {
    if (error_ == 0) error_ = error;
  }
  int error() const { return error_; }

 private:
  struct Pending {
    nagaya_file_request request;
    uint64_t bytes;
  };

  template <class Make>
  void make(uint64_t bytes, Make make);
  void finish_first();

  nagaya_file* file_ = nullptr;
  std::deque<Pending> pending_;  // its elements stay where they are
  int error_ = 0;
};

}  // namespace nagaya::checkpoint
