// SPDX-License-Identifier: BSD-3-Clause
// collective_side.h - one side of a collective, as MPI describes it: a block for each rank, or a
// single one.
#pragma once

#include <nagaya/coll.h>

#include <cstring>
#include <memory>
#include <vector>

#include "objects/datatype.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

// An argument of counts or displacements: of int, or in MPI_X_c of 64 bits.
class Numbers {
 public:
  Numbers(std::nullptr_t) {}
  Numbers(const int* all) : narrow_(all) {}
  template <class Wide>  // MPI_Count or MPI_Aint, which may be one type
  requires(sizeof(Wide) == sizeof(ptrdiff_t)) Numbers(const Wide* all) : wide_(all) {}

  bool are_given() const { return narrow_ != nullptr || wide_ != nullptr; }
  ptrdiff_t operator[](size_t n) const {
    if (narrow_ != nullptr) return narrow_[n];
    ptrdiff_t number;
    std::memcpy(&number, static_cast<const char*>(wide_) + n * sizeof number, sizeof number);
    return number;
  }

 private:
  const int* narrow_ = nullptr;
  const void* wide_ = nullptr;
};
static_assert(sizeof(MPI_Count) == sizeof(ptrdiff_t) && sizeof(MPI_Aint) == sizeof(ptrdiff_t));

struct Block {
  char* buffer;
  size_t count;
  Datatype datatype;

  size_t bytes() const { return count * datatype.bytes; }
};

class Side {
 public:
  Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side();

  // ---- MPI's arguments, before the other functions; they return an error class

  // One block.
  int set_one(const void* buffer, MPI_Count count, MPI_Datatype type);
  // Blocks that follow each other.
  int set_equal(const void* buffer, MPI_Count count, MPI_Datatype type, int blocks);
  // Displacements are in extents of the type.
  int set_listed(const void* buffer, Numbers counts, Numbers displacements, MPI_Datatype type,
                 int blocks);
  // Displacements are in bytes.
  int set_typed(const void* buffer, Numbers counts, Numbers displacements,
                const MPI_Datatype* types, int blocks);
  // One block, where it lies on another side, which has one type.
  void set_block_of(const Side& other, int rank);

  bool is_absent() const { return blocks_ == 0; }
  bool has_one_block() const { return blocks_ == 1; }
  Block block(size_t n) const;
  // The block for or from `rank`; the only one if there is one.
  Block block_of(int rank) const { return block(has_one_block() ? 0 : static_cast<size_t>(rank)); }

  // ---- the same for coll.h. Called before each start; throw std::bad_alloc.

  void describe_sent(nagaya_blocks& out);
  // Returns false if a block has too many runs: the caller stores what comes.
  bool describe_received(nagaya_blocks& out);

  // From now on the program may free its types; `is_persistent`: its lists of counts and
  // displacements, too. Throws std::bad_alloc.
  void hold(bool is_persistent);

 private:
  int set_first(const void* buffer, MPI_Datatype type);
  void copy_lists();
  bool is_one_run_each() const;
  bool describe_runs(nagaya_blocks& out);
  void describe_blocks(nagaya_blocks& out, bool are_in_runs);
  void describe_each_block(nagaya_blocks& out, bool are_in_runs);
  void pack(nagaya_blocks& out);
  template <class Act>
  void for_each_datatype(Act act) const;

  char* buffer_ = nullptr;
  size_t blocks_ = 0, count_ = 0;
  Datatype datatype_;
  Numbers counts_ = nullptr, displacements_ = nullptr;
  std::unique_ptr<ptrdiff_t[]> lists_;     // of copy_lists(): counts, then displacements
  std::unique_ptr<Datatype[]> datatypes_;  // of set_typed(), by block
  bool is_held_ = false;
  // Arrays and buffer to which nagaya_blocks has pointers.
  std::unique_ptr<size_t[]> bytes_of_;
  std::unique_ptr<ptrdiff_t[]> offset_of_;
  std::unique_ptr<char[]> packed_;
  std::vector<nagaya_runs> runs_;
  std::vector<const nagaya_runs*> runs_of_;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
