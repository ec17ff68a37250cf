// SPDX-License-Identifier: BSD-3-Clause
#include "calls/collective_side.h"

#include <algorithm>

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// ---- MPI's arguments
// ----------------------------------------------------------------------------------

int Side::set_first(const void* buffer, MPI_Datatype type) {
  buffer_ = static_cast<char*>(const_cast<void*>(buffer));
  if (buffer == MPI_IN_PLACE) return MPI_ERR_BUFFER;
  return describe(type, datatype_);
}

int Side::set_one(const void* buffer, MPI_Count count, MPI_Datatype type) {
  return set_equal(buffer, count, type, 1);
}

int Side::set_equal(const void* buffer, MPI_Count count, MPI_Datatype type, int blocks) {
  if (count < 0) return MPI_ERR_COUNT;
  if (const int error = set_first(buffer, type)) return error;
  if (buffer == nullptr && datatype_.type == nullptr && count != 0) return MPI_ERR_BUFFER;
  blocks_ = static_cast<size_t>(blocks);
  count_ = static_cast<size_t>(count);
  return MPI_SUCCESS;
}

int Side::set_listed(const void* buffer, Numbers counts, Numbers displacements, MPI_Datatype type,
                     int blocks) {
  if (!counts.are_given() || !displacements.are_given()) return MPI_ERR_ARG;
  if (const int error = set_first(buffer, type)) return error;
  blocks_ = static_cast<size_t>(blocks);
  for (size_t n = 0; n < blocks_; ++n)
    if (counts[n] < 0) return MPI_ERR_COUNT;
  counts_ = counts;
  displacements_ = displacements;
  return MPI_SUCCESS;
}

int Side::set_typed(const void* buffer, Numbers counts, Numbers displacements,
                    const MPI_Datatype* types, int blocks) {
  if (types == nullptr) return MPI_ERR_ARG;
  if (const int error = set_listed(buffer, counts, displacements, MPI_BYTE, blocks)) return error;
  datatypes_.reset(new Datatype[blocks_]);
  for (size_t n = 0; n < blocks_; ++n)
    if (const int error = describe(types[n], datatypes_[n])) return error;
  return MPI_SUCCESS;
}

void Side::set_block_of(const Side& other, int rank) {
  const Block block = other.block(static_cast<size_t>(rank));
  buffer_ = block.buffer;
  count_ = block.count;
  datatype_ = block.datatype;
  blocks_ = 1;
}

Block Side::block(size_t n) const {
  const Datatype& datatype = datatypes_ != nullptr ? datatypes_[n] : datatype_;
  if (!counts_.are_given())
    return {buffer_ + static_cast<ptrdiff_t>(n * count_) * datatype.extent, count_, datatype};
  const ptrdiff_t unit = datatypes_ != nullptr ? 1 : datatype.extent;
  return {buffer_ + displacements_[n] * unit, static_cast<size_t>(counts_[n]), datatype};
}

template <class Act>
void Side::for_each_datatype(Act act) const {
  act(datatype_);
  for (size_t n = 0; datatypes_ != nullptr && n < blocks_; ++n) act(datatypes_[n]);
}

void Side::hold(bool is_persistent) {
  if (is_persistent && counts_.are_given()) copy_lists();
  for_each_datatype([](const Datatype& datatype) { datatype.hold(); });
  is_held_ = true;
}

void Side::copy_lists() {
  lists_.reset(new ptrdiff_t[2 * blocks_]);
  ptrdiff_t* const counts = lists_.get();
  ptrdiff_t* const displacements = counts + blocks_;
  for (size_t n = 0; n < blocks_; ++n) {
    counts[n] = counts_[n];
    displacements[n] = displacements_[n];
  }
  counts_ = counts;
  displacements_ = displacements;
}

Side::~Side() {
  if (is_held_) for_each_datatype([](const Datatype& datatype) { datatype.release(); });
}

// ---- as coll.h has it
// -----------------------------------------------------------------------------------

bool Side::is_one_run_each() const {
  const size_t different = counts_.are_given() ? blocks_ : 1;
  for (size_t n = 0; n < different; ++n) {
    const Block one = block(n);
    if (!one.datatype.is_one_run(one.count)) return false;
  }
  return true;
}

void Side::describe_sent(nagaya_blocks& out) {
  const bool are_runs = !is_one_run_each();
  if (are_runs && !describe_runs(out)) return pack(out);
  describe_blocks(out, are_runs);
}

bool Side::describe_received(nagaya_blocks& out) {
  const bool are_runs = !is_one_run_each();
  const bool are_described = are_runs && describe_runs(out);
  describe_blocks(out, are_described);
  return !are_runs || are_described;
}

// Describes the longest block of each type as if it began at the buffer. Returns false if one has
// too many runs.
bool Side::describe_runs(nagaya_blocks& out) {
  const size_t types = datatypes_ != nullptr ? blocks_ : 1;
  std::vector<size_t> ends;
  runs_.clear();
  for (size_t n = 0; n < types; ++n) {
    Block longest = block(n);
    for (size_t k = 1; datatypes_ == nullptr && counts_.are_given() && k < blocks_; ++k)
      longest.count = std::max(longest.count, block(k).count);
    const size_t first = runs_.size();
    if (longest.bytes() == 0 || longest.datatype.type == nullptr) {
      runs_.push_back({buffer_, std::max<size_t>(longest.bytes(), 1), 1, 0});
    } else {
      runs_.resize(first + kRunsMax);
      const size_t used = longest.datatype.type->describe(buffer_, longest.count, &runs_[first]);
      if (used == 0) return false;
      runs_.resize(first + used);
    }
    ends.push_back(runs_.size());
  }
  if (datatypes_ == nullptr) {
    out.runs = runs_.data();
    return true;
  }
  runs_of_.assign(1, runs_.data());
  for (size_t n = 0; n + 1 < types; ++n) runs_of_.push_back(runs_.data() + ends[n]);
  out.runs_of = runs_of_.data();
  return true;
}

void Side::describe_blocks(nagaya_blocks& out, bool are_in_runs) {
  if (counts_.are_given()) return describe_each_block(out, are_in_runs);
  const ptrdiff_t to_first =
      are_in_runs || datatype_.type == nullptr ? 0 : datatype_.type->true_lb();
  out.base = buffer_ + to_first;
  out.bytes = count_ * datatype_.bytes;
  out.stride = static_cast<ptrdiff_t>(count_) * datatype_.extent;
}

void Side::describe_each_block(nagaya_blocks& out, bool are_in_runs) {
  if (bytes_of_ == nullptr) {
    bytes_of_.reset(new size_t[blocks_]);
    offset_of_.reset(new ptrdiff_t[blocks_]);
  }
  for (size_t n = 0; n < blocks_; ++n) {
    const Block one = block(n);
    const ptrdiff_t to_first =
        are_in_runs || one.datatype.type == nullptr ? 0 : one.datatype.type->true_lb();
    bytes_of_[n] = one.bytes();
    offset_of_[n] = one.buffer + to_first - buffer_;
  }
  out.base = buffer_;
  out.bytes_of = bytes_of_.get();
  out.offset_of = offset_of_.get();
}

// Packs all blocks, one behind the other.
void Side::pack(nagaya_blocks& out) {
  describe_each_block(out, true);
  size_t total = 0;
  for (size_t n = 0; n < blocks_; ++n) {
    offset_of_[n] = static_cast<ptrdiff_t>(total);
    total += bytes_of_[n];
  }
  if (packed_ == nullptr) packed_.reset(new char[total + 1]);
  for (size_t n = 0; n < blocks_; ++n) {
    const Block one = block(n);
    char* const to = packed_.get() + offset_of_[n];
    if (one.datatype.type != nullptr)
      one.datatype.type->pack(one.buffer, 0, one.bytes(), to);
    else
      std::memcpy(to, one.buffer, one.bytes());
  }
  out.base = packed_.get();
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
