// SPDX-License-Identifier: BSD-3-Clause
// collective_call.h - one call of a collective: MPI's arguments, and coll.h's description of them.
#pragma once

#include "calls/collective_side.h"
#include "objects/errors.h"
#include "objects/operation.h"
#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class CollectiveCall final : public RequestPart {
 public:
  static constexpr RequestKind kKind = RequestKind::kCollective;

  CollectiveCall(Communicator& comm, Request& request) : CollectiveCall(comm, request.collective) {}
  ~CollectiveCall() override;

  // A blocking call.
  template <class Fill>
  static int run(Communicator& comm, Fill fill) {
    nagaya_collective collective;
    CollectiveCall call(comm, collective);
    if (const int error = fill(call)) return error;
    if (const int error = call.check_own_block()) return error;
    return call.run();
  }
  // Called once for a call of a request: the program may free the call's types and its operation,
  // and start a persistent one in an order of its own.
  int keep(bool is_persistent);
  int start() override;
  bool is_over(int& error) override;

  // ---- for the operations' arguments

  // Called first. Returns an error class.
  int begin(nagaya_collective_kind kind, int root = 0);
  // The caller's block of a collective with a root, which may say MPI_IN_PLACE.
  int set_own(Side& side, const void* buffer, MPI_Count count, MPI_Datatype type);
  // Elements that are reduced. `root_only`: only the root gets the result.
  int set_elements(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
                   bool root_only);
  // The shares of a reduce_scatter, before set_elements().
  int set_shares(Numbers counts, MPI_Count& total);

  // A receiver wants a block of just its own size (kChecksData).
  void expect_exact_size() { collective_.is_exact = kChecksData; }

  bool is_root() const { return collective_.root == static_cast<uint32_t>(comm_.rank()); }
  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }
  // Only the root, or each rank for its own blocks, knows their sizes.
  void vary() { collective_.varies = 1; }
  // The program says MPI_IN_PLACE: `send` and `receive` may be the same memory.
  void set_in_place() { is_in_place_ = true; }

  Side send, receive;

 private:
  CollectiveCall(Communicator& comm, nagaya_collective& collective)
      : comm_(comm), collective_(collective) {}

  int run();
  // Returns an error class if the caller's own block is sent from where it is received, without
  // MPI_IN_PLACE, and MPIs of this interface refuse that (kChecksData).
  int check_own_block() const;
  void describe();
  static void store(void* call, uint32_t rank, const void* data, size_t bytes);

  Communicator& comm_;
  nagaya_collective& collective_;
  Operation operation_;
  std::unique_ptr<size_t[]> shares_;
  nagaya_team *team_ = nullptr, *own_team_ = nullptr;
  bool is_in_place_ = false;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
