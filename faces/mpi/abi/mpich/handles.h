// SPDX-License-Identifier: BSD-3-Clause
// handles.h - MPICH's types of C. Handles are numbers: the kind in the upper bits, and in bits 8 to
// 15 the size of a basic type.
#pragma once

namespace nagaya::mpi::mpich {

using MPI_Aint = long;
using MPI_Count = long long;
using MPI_Offset = long long;
using MPI_Fint = int;

using MPI_Comm = int;
using MPI_Datatype = int;
using MPI_Errhandler = int;
using MPI_Group = int;
using MPI_Info = int;
using MPI_Message = int;
using MPI_Op = int;
using MPI_Request = int;
using MPI_Session = int;
using MPI_Win = int;
using MPI_File = struct File*;

struct MPI_Status {
  int count_lo;
  int count_hi_and_cancelled;  // the lowest bit: it was cancelled
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
};

using MPI_Comm_copy_attr_function = int(MPI_Comm, int, void*, void*, void*, int*);
using MPI_Comm_delete_attr_function = int(MPI_Comm, int, void*, void*);
using MPI_Type_copy_attr_function = int(MPI_Datatype, int, void*, void*, void*, int*);
using MPI_Type_delete_attr_function = int(MPI_Datatype, int, void*, void*);

}  // namespace nagaya::mpi::mpich
