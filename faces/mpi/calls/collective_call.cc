// SPDX-License-Identifier: BSD-3-Clause
#include "calls/collective_call.h"

#include <algorithm>

namespace nagaya::mpi::NAGAYA_MPI_ABI {

CollectiveCall::~CollectiveCall() {
  if (own_team_ != nullptr) ::nagaya_coll_wait_close(own_team_);
}

// ---- arguments
// ------------------------------------------------------------------------------------------

// Field by field: clearing all of it takes as long as a short collective.
int CollectiveCall::begin(nagaya_collective_kind kind, int root) {
  if (!comm_.has(root)) return MPI_ERR_ROOT;
  collective_.kind = kind;
  collective_.root = static_cast<uint32_t>(root);
  collective_.varies = 0;
  collective_.send = collective_.receive = {};
  collective_.may_detach = 0;
  collective_.is_exact = 0;
  collective_.elements.count = collective_.elements.extent = 0;
  collective_.elements.copy = nullptr;
  collective_.store = nullptr;
  collective_.complete = nullptr;
  return MPI_SUCCESS;
}

int CollectiveCall::check_own_block() const {
  if (!kChecksData || is_in_place_ || send.is_absent() || receive.is_absent()) return MPI_SUCCESS;
  const Block sent = send.block_of(rank()), received = receive.block_of(rank());
  const bool is_one = sent.buffer == received.buffer && sent.bytes() != 0 &&
                      sent.bytes() == received.bytes() &&
                      sent.datatype.type == received.datatype.type;
  return is_one ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int CollectiveCall::set_own(Side& side, const void* buffer, MPI_Count count, MPI_Datatype type) {
  if (buffer == MPI_IN_PLACE && is_root()) return MPI_SUCCESS;
  return side.set_one(buffer, count, type);
}

namespace {

// The address 0 is right for types with absolute addresses.
bool is_missing(const void* buffer, MPI_Count count, MPI_Datatype type) {
  size_t bytes = 0;
  return buffer == nullptr && count != 0 && is_basic(type, bytes);
}

}  // namespace

int CollectiveCall::set_elements(const void* from, void* to, MPI_Count count, MPI_Datatype type,
                                 MPI_Op op, bool root_only) {
  if (count < 0) return MPI_ERR_COUNT;
  if (const int error = operation_.set(op, type, collective_.elements)) return error;
  const bool has_result = !root_only || is_root(), is_in_place = from == MPI_IN_PLACE;
  if (is_in_place ? !has_result : is_missing(from, count, type)) return MPI_ERR_BUFFER;
  const MPI_Count of_result = shares_ != nullptr ? static_cast<MPI_Count>(shares_[rank()]) : count;
  if (has_result && (to == MPI_IN_PLACE || is_missing(to, of_result, type))) return MPI_ERR_BUFFER;
  if (kChecksData && has_result && from == to && count != 0) return MPI_ERR_BUFFER;
  collective_.elements.count = static_cast<size_t>(count);
  collective_.elements.count_of = shares_.get();
  collective_.send.base = is_in_place ? to : const_cast<void*>(from);
  collective_.receive.base = to;
  return MPI_SUCCESS;
}

int CollectiveCall::set_shares(Numbers counts, MPI_Count& total) {
  if (!counts.are_given()) return MPI_ERR_ARG;
  const auto ranks = static_cast<size_t>(size());
  shares_.reset(new size_t[ranks]);
  for (size_t n = 0; n < ranks; ++n) {
    if (counts[n] < 0) return MPI_ERR_COUNT;
    shares_[n] = static_cast<size_t>(counts[n]);
    total += counts[n];
  }
  return MPI_SUCCESS;
}

// ---- running
// --------------------------------------------------------------------------------------------

// Packs data in too many runs, so that it is called before each start.
void CollectiveCall::describe() {
  if (!send.is_absent()) send.describe_sent(collective_.send);
  if (receive.is_absent() || receive.describe_received(collective_.receive)) return;
  collective_.store = store;
  collective_.store_context = this;
}

// Unpacks a rank's data into a block of too many runs.
void CollectiveCall::store(void* call, uint32_t rank, const void* data, size_t bytes) {
  auto& self = *static_cast<CollectiveCall*>(call);
  const Block block = self.receive.block_of(static_cast<int>(rank));
  if (bytes > block.bytes()) self.collective_.error = -EMSGSIZE;
  bytes = std::min(bytes, block.bytes());
  if (block.datatype.type != nullptr)
    block.datatype.type->unpack(block.buffer, 0, bytes, data);
  else
    std::memcpy(block.buffer, data, bytes);
}

int CollectiveCall::run() {
  nagaya_team* const team = comm_.team();
  if (team == nullptr) return MPI_ERR_NO_MEM;
  describe();
  return class_of(::nagaya_coll_run(team, &collective_));
}

int CollectiveCall::keep(bool is_persistent) {
  if (const int error = check_own_block()) return error;
  send.hold(is_persistent);
  receive.hold(is_persistent);
  operation_.keep();
  if (is_persistent) own_team_ = comm_.open_team(comm_.take_number());
  team_ = is_persistent ? own_team_ : comm_.pending_team();
  return team_ != nullptr ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int CollectiveCall::start() {
  describe();
  return class_of(::nagaya_coll_start(team_, &collective_));
}

bool CollectiveCall::is_over(int& error) {
  if (__atomic_load_n(&collective_.is_complete, __ATOMIC_ACQUIRE) == 0) return false;
  error = class_of(collective_.error);
  return true;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
