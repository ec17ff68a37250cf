// SPDX-License-Identifier: BSD-3-Clause
#include "calls/neighbour_exchange.h"

#include "calls/completion.h"
#include "calls/receive.h"
#include "calls/send.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

constexpr int kTag = -2;  // of persistent requests: below

// Where a block is, and how much.
struct Place {
  char* buffer;
  size_t count;
  MPI_Datatype type;
};

int place_of(const NeighbourBlocks& blocks, size_t n, Place& out) {
  const MPI_Count count = blocks.counts.are_given() ? blocks.counts[n] : blocks.count;
  out.type = blocks.types != nullptr ? blocks.types[n] : blocks.type;
  Datatype datatype;
  if (count < 0) return MPI_ERR_COUNT;
  if (const int error = describe(out.type, datatype)) return error;
  ptrdiff_t offset = blocks.is_for_all ? 0 : static_cast<ptrdiff_t>(n) * count * datatype.extent;
  if (blocks.counts.are_given())
    offset = blocks.displacements[n] * (blocks.types != nullptr ? 1 : datatype.extent);
  out.buffer = static_cast<char*>(const_cast<void*>(blocks.buffer)) + offset;
  out.count = static_cast<size_t>(count);
  return MPI_SUCCESS;
}

}  // namespace

NeighbourExchange::~NeighbourExchange() {
  for (Request* const message : messages_) Requests::free(message);
}

// ---- the neighbours
// -------------------------------------------------------------------------------------

int NeighbourExchange::find_neighbours() {
  const MPI_Comm handle = comm_.handle();
  int topology = MPI_UNDEFINED, in = 0, out = 0, is_weighted = 0;
  beneath.Topo_test(handle, &topology);
  if (topology == MPI_CART) return find_cartesian_neighbours();
  if (topology == MPI_GRAPH) {
    beneath.Graph_neighbors_count(handle, comm_.rank(), &in);
    sources_.resize(static_cast<size_t>(in));
    beneath.Graph_neighbors(handle, comm_.rank(), in, sources_.data());
    destinations_ = sources_;
    return MPI_SUCCESS;
  }
  if (topology != MPI_DIST_GRAPH) return MPI_ERR_TOPOLOGY;
  beneath.Dist_graph_neighbors_count(handle, &in, &out, &is_weighted);
  sources_.resize(static_cast<size_t>(in));
  destinations_.resize(static_cast<size_t>(out));
  std::vector<int> in_weights(sources_.size()), out_weights(destinations_.size());
  beneath.Dist_graph_neighbors(handle, in, sources_.data(), in_weights.data(), out,
                               destinations_.data(), out_weights.data());
  return MPI_SUCCESS;
}

// Finds the neighbours below and above in each dimension.
int NeighbourExchange::find_cartesian_neighbours() {
  int dimensions = 0;
  beneath.Cartdim_get(comm_.handle(), &dimensions);
  for (int n = 0; n < dimensions; ++n) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    beneath.Cart_shift(comm_.handle(), n, 1, &below, &above);
    sources_.push_back(below);
    sources_.push_back(above);
  }
  destinations_ = sources_;
  is_cartesian_ = true;
  return MPI_SUCCESS;
}

// ---- the messages
// ---------------------------------------------------------------------------------------

int NeighbourExchange::add(const NeighbourBlocks& from, const NeighbourBlocks& to) {
  if (from.buffer == MPI_IN_PLACE || to.buffer == MPI_IN_PLACE) return MPI_ERR_BUFFER;
  if (const int error = find_neighbours()) return error;
  messages_.reserve(sources_.size() + destinations_.size());
  if (const int error = add_receives(to)) return error;
  return add_sends(from);
}

// Messages of one neighbour are matched in the order of the receives. In a cartesian topology a
// neighbour may be both below and above: the message that it sends downwards, which is its first
// one, comes from above.
int NeighbourExchange::add_receives(const NeighbourBlocks& blocks) {
  for (size_t n = 0; n < sources_.size(); ++n) {
    const size_t which = is_cartesian_ ? n ^ 1 : n;
    Place place;
    if (const int error = place_of(blocks, which, place)) return error;
    if (sources_[which] == MPI_PROC_NULL) continue;
    Request* message = nullptr;
    if (const int error = make_receive(comm_, place.buffer, place.count, place.type,
                                       sources_[which], kTag, message))
      return error;
    messages_.push_back(message);
  }
  return MPI_SUCCESS;
}

int NeighbourExchange::add_sends(const NeighbourBlocks& blocks) {
  for (size_t n = 0; n < destinations_.size(); ++n) {
    Place place;
    if (const int error = place_of(blocks, n, place)) return error;
    if (destinations_[n] == MPI_PROC_NULL) continue;
    Request* message = nullptr;
    if (const int error = make_send(Mode::kStandard, comm_, place.buffer, place.count, place.type,
                                    destinations_[n], kTag, message))
      return error;
    messages_.push_back(message);
  }
  return MPI_SUCCESS;
}

int NeighbourExchange::keep(bool is_persistent) {
  if (!is_persistent) return MPI_SUCCESS;
  const int tag = kTag - static_cast<int>(comm_.take_number());
  for (Request* const message : messages_) {
    message->tag = tag;
    if (message->kind == RequestKind::kSend) message->send.envelope.tag = tag;
  }
  return MPI_SUCCESS;
}

int NeighbourExchange::start() {
  over_ = 0;
  for (Request* const message : messages_) {
    const int error =
        message->kind == RequestKind::kSend ? start_send(*message) : start_receive(*message);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

bool NeighbourExchange::is_over(int& error) {
  while (over_ < messages_.size() && messages_[over_]->is_complete()) ++over_;
  if (over_ < messages_.size()) return false;
  error = MPI_SUCCESS;
  for (const Request* const message : messages_)
    if (error == MPI_SUCCESS) error = store_status(*message, MPI_STATUS_IGNORE);
  return true;
}

int NeighbourExchange::run() {
  if (const int error = start()) return error;
  int error = MPI_SUCCESS;
  if (const int failed = wait_until([&] { return is_over(error); })) return failed;
  return error;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
