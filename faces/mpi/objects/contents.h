// SPDX-License-Identifier: BSD-3-Clause
// contents.h - how a datatype was made: the combiner, and the arguments of that call one after the
// other.
//
// A function with MPI_Count, MPI_Type_vector_c, has the arguments of its int twin in the same
// order. The MPI beneath keeps its counts and displacements in an array of their own; where it
// lacks such functions, there are none.
#pragma once

#include <vector>

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Contents {
 public:
  // Asks the MPI beneath. May throw std::bad_alloc.
  explicit Contents(MPI_Datatype type);
  // Frees the old types.
  ~Contents();
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  // MPI_COMBINER_NAMED: no call has made it. MPI_UNDEFINED: the MPI beneath does not tell.
  int combiner() const { return combiner_; }
  // Returns whether the type is the MPI's own: nobody may free it, and it lives for ever.
  bool is_predefined() const;
  const std::vector<MPI_Datatype>& types() const { return types_; }

  // Return the next argument of its kind: an int of both functions; an int, or MPI_Count of the
  // large function; MPI_Aint, or MPI_Count. Only for as many arguments as the call has.
  int integer() { return integers_[next_integer_++]; }
  ptrdiff_t number();
  ptrdiff_t address();
  // Return the next `count`, each times `unit`.
  std::vector<ptrdiff_t> numbers(size_t count, ptrdiff_t unit = 1);
  std::vector<ptrdiff_t> addresses(size_t count);

 private:
  int combiner_ = MPI_UNDEFINED;
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> counts_;  // of the large function
  std::vector<MPI_Datatype> types_;
  size_t next_integer_ = 0, next_address_ = 0, next_count_ = 0;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
