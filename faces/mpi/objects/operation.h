// SPDX-License-Identifier: BSD-3-Clause
// operation.h - the operation of a reduction, for the elements that it reduces.
//
//   operation    datatype                                     reduced by
//   predefined   one that predefined.h has                    a loop of ours
//   predefined   another predefined one (16 bytes, Fortran)   MPI_Reduce_local of the MPI beneath
//   a program's  any                                          MPI_Reduce_local of the MPI beneath
#pragma once

#include <nagaya/coll.h>

#include "objects/datatype.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

class Operation {
 public:
  Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation();

  // Called once. Describes all but the number of elements; `elements` refers to this object.
  // Returns an error class.
  int set(MPI_Op op, MPI_Datatype type, nagaya_elements& elements);

  // From now on the program may free operation and datatype. Throws std::bad_alloc.
  void keep();

  // MPI_Op_free and MPI_Type_free.
  static int free_op(MPI_Op* op);
  static int free_type(MPI_Datatype* type);

 private:
  static int may_reduce(void*);
  static void reduce_beneath(void* operation, const void* in, void* inout, size_t count);
  static void copy_elements(void* operation, void* to, const void* from, size_t count);

  MPI_Op op_{};
  MPI_Datatype type_{};
  Datatype datatype_;
  bool is_beneath_ = false, is_kept_ = false;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
