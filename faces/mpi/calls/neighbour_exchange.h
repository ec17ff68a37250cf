// SPDX-License-Identifier: BSD-3-Clause
// neighbour_exchange.h - one call of a neighbourhood collective: a message to each neighbour, and
// one from each.
//
// Tags are negative, so that no receive of the program matches: one for all calls of a
// communicator, whose messages are matched in the order of the calls, and one for each persistent
// request, since each process starts those in an order of its own.
#pragma once

#include <vector>

#include "calls/collective_side.h"
#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// The blocks of one side, as MPI describes them.
struct NeighbourBlocks {
  const void* buffer;
  MPI_Count count;  // of each; or with `counts`:
  Numbers counts, displacements;
  MPI_Datatype type;          // displacements are in its extents; or with `types` in bytes:
  const MPI_Datatype* types;  // of each block
  bool is_for_all = false;    // every neighbour gets the first block
};

class NeighbourExchange final : public RequestPart {
 public:
  static constexpr RequestKind kKind = RequestKind::kOther;

  explicit NeighbourExchange(Communicator& comm) : comm_(comm) {}
  NeighbourExchange(Communicator& comm, Request&) : NeighbourExchange(comm) {}
  ~NeighbourExchange() override;

  // A blocking call.
  template <class Fill>
  static int run(Communicator& comm, Fill fill) {
    NeighbourExchange exchange(comm);
    const int error = fill(exchange);
    return error == MPI_SUCCESS ? exchange.run() : error;
  }
  // Called once for a call of a request.
  int keep(bool is_persistent);
  int start() override;
  bool is_over(int& error) override;

  // Makes the messages. Returns an error class.
  int add(const NeighbourBlocks& from, const NeighbourBlocks& to);

 private:
  int run();
  int find_neighbours();
  int find_cartesian_neighbours();
  int add_receives(const NeighbourBlocks& blocks);
  int add_sends(const NeighbourBlocks& blocks);

  Communicator& comm_;
  bool is_cartesian_ = false;
  std::vector<int> sources_, destinations_;  // in MPI's order
  std::vector<Request*> messages_;           // owned; receives first
  size_t over_ = 0;                          // all before this one have ended
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
