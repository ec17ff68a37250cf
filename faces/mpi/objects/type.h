// SPDX-License-Identifier: BSD-3-Clause
// type.h - a datatype: where its data lie.
//
// Described when it is first used. A predefined type is kept for ever. A derived one has an
// attribute of ours in the MPI beneath, which is deleted with the type: then its handle, which a
// new type may get at once, leads nowhere any more. Requests that are pending hold the description.
#pragma once

#include <cstddef>

#include "objects/combiners.h"
#include "objects/owners.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

inline constexpr size_t kRunsMax = 32;  // of one message; more are packed

class Type {
 public:
  // Returns nullptr if the handle is no datatype, or there is no memory. Callable by any thread, as
  // all functions.
  static const Type* find(MPI_Datatype handle);

  // Returns the size of the data of one element.                                         [bytes]
  size_t size() const { return described_.layout->bytes(); }
  ptrdiff_t lb() const { return lb_; }
  ptrdiff_t extent() const { return described_.extent; }
  ptrdiff_t true_lb() const { return described_.layout->low(); }
  size_t true_extent() const {
    return static_cast<size_t>(described_.layout->high() - described_.layout->low());
  }
  // The one predefined datatype that all data are of, or MPI_DATATYPE_NULL. A pair (MPI_FLOAT_INT)
  // is one.
  MPI_Datatype elementary() const { return described_.elementary; }

  // Returns whether the data of `count` elements are one run of bytes, in their order. It begins at
  // true_lb().
  bool is_one_run(size_t count) const { return is_dense_ || (is_one_run_ && count <= 1); }
  // Describes `count` elements at `buffer` by up to `most` groups of runs. Returns their number;
  // 0: they need more.
  size_t describe(const void* buffer, size_t count, nagaya_runs* runs,
                  size_t most = kRunsMax) const;
  // Describes the predefined elements in them, of `data_bytes` in the message: each as one run of
  // `element_bytes`, gaps included.
  size_t describe_elements(const void* buffer, size_t count, size_t data_bytes,
                           size_t element_bytes, nagaya_runs* runs, size_t most) const;
  // Copy `bytes` bytes of the data of elements at `buffer`, from the byte `first` on, to or from
  // one run.
  void pack(const void* buffer, size_t first, size_t bytes, void* to) const;
  void unpack(void* buffer, size_t first, size_t bytes, const void* from) const;

  // Called by the owner of each further pointer to this that may outlive the datatype; the last
  // release() ends it.
  void hold() const { owners_.add(); }
  void release() const {
    if (owners_.remove()) delete this;
  }

 private:
  Type(TypeLayout described, ptrdiff_t lb);
  static const Type* find_or_add(MPI_Datatype handle);  // with the lock
  static const Type* add(MPI_Datatype handle);
  static bool tie_to(MPI_Datatype handle, Type* type);
  static int end_by_attribute(MPI_Datatype handle, int keyval, void* type, void* extra);

  const TypeLayout described_;
  const ptrdiff_t lb_;
  const bool is_one_run_;  // one element is
  const bool is_dense_;    // any number of them are
  mutable Owners owners_;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
