// SPDX-License-Identifier: BSD-3-Clause
// type.h - where the data of a datatype lie, and the data of a call: buffer, count, datatype.
#pragma once

#include <nagaya/llcl.h>

#include <cstddef>
#include <memory>

#include "beneath/functions.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

inline constexpr size_t kRunsMax = 32;  // of one message; more are packed

// A datatype as bytes. Kept while the datatype exists, and while a request uses it.
class Type {
 public:
  // Returns nullptr if the handle is no datatype.
  static const Type* find(MPI_Datatype handle);

  size_t size() const { return size_; }  // of the data of one element                     [bytes]
  ptrdiff_t lb() const { return lb_; }
  ptrdiff_t extent() const { return extent_; }
  ptrdiff_t true_lb() const { return true_lb_; }
  size_t true_extent() const { return true_extent_; }

  // Whether `count` elements are one run of bytes, in their order.
  bool is_one_run(size_t count) const { return is_dense_ || (is_one_run_ && count <= 1); }
  // Describes `count` elements at `buffer` by up to kRunsMax groups of runs. Returns their number; 0: they
  // need more.
  size_t describe(const void* buffer, size_t count, nagaya_runs* runs) const;
  // Copy `bytes` bytes of the data of elements at `buffer`, from the byte `first` on, to or from one run.
  void pack(const void* buffer, size_t first, size_t bytes, void* to) const;
  void unpack(void* buffer, size_t first, size_t bytes, const void* from) const;

  void hold() const;
  void release() const;

 private:
  Type() = default;
  static const Type* describe_new(MPI_Datatype handle);

  size_t size_ = 0, true_extent_ = 0;
  ptrdiff_t lb_ = 0, extent_ = 0, true_lb_ = 0;
  bool is_one_run_ = false;  // one element is
  bool is_dense_ = false;    // any number of them are
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
