// SPDX-License-Identifier: BSD-3-Clause
// mpi.cc - the messages of the delegation paper's patterns by MPI: each process drives
// the network itself.
#include <mpi.h>

#include <vector>

#include "delegation.h"

namespace nagaya::bench {
namespace {

class Mpi : public Messages {
 public:
  explicit Mpi(size_t bytes_max) {
    MPI_Init(nullptr, nullptr);  // its errors end the job
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    nodes = size / size_of_node();
    out_.resize(static_cast<size_t>(size) * bytes_max);
    in_.resize(out_.size());
  }
  ~Mpi() override { MPI_Finalize(); }

  std::byte* out(int to, size_t bytes) override {
    return out_.data() + static_cast<size_t>(to) * bytes;
  }
  void send(int to, size_t bytes) override {
    MPI_Send(out(to, bytes), static_cast<int>(bytes), MPI_BYTE, to, 0, MPI_COMM_WORLD);
  }
  const std::byte* receive(int from, size_t bytes) override {
    MPI_Recv(in_.data(), static_cast<int>(bytes), MPI_BYTE, from, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return in_.data();
  }
  const std::byte* exchange(size_t bytes) override {
    const int count = static_cast<int>(bytes);
    MPI_Alltoall(out_.data(), count, MPI_BYTE, in_.data(), count, MPI_BYTE, MPI_COMM_WORLD);
    return in_.data();
  }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }

 private:
  static int size_of_node() {
    MPI_Comm node;
    int its_size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &its_size);
    MPI_Comm_free(&node);
    return its_size;
  }

  std::vector<std::byte> out_, in_;
};

}  // namespace

const char* const kCarrier = "Open MPI";

std::unique_ptr<Messages> open_messages(size_t bytes_max) {
  return std::make_unique<Mpi>(bytes_max);
}

}  // namespace nagaya::bench
