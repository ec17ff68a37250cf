// SPDX-License-Identifier: BSD-3-Clause
// handles.h - Open MPI's types of C. Handles are addresses of the library's objects.
#pragma once

#include <cstddef>

namespace nagaya::mpi::openmpi {

using MPI_Aint = ptrdiff_t;
using MPI_Count = long long;
using MPI_Offset = long long;
using MPI_Fint = int;

using MPI_Comm = struct ompi_communicator_t*;
using MPI_Datatype = struct ompi_datatype_t*;
using MPI_Errhandler = struct ompi_errhandler_t*;
using MPI_Group = struct ompi_group_t*;
using MPI_Info = struct ompi_info_t*;
using MPI_Message = struct ompi_message_t*;
using MPI_Op = struct ompi_op_t*;
using MPI_Request = struct ompi_request_t*;
using MPI_Session = struct ompi_instance_t*;
using MPI_Win = struct ompi_win_t*;
using MPI_File = struct ompi_file_t*;

struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int is_cancelled;
  size_t bytes;
};

using MPI_Comm_copy_attr_function = int(MPI_Comm, int, void*, void*, void*, int*);
using MPI_Comm_delete_attr_function = int(MPI_Comm, int, void*, void*);
using MPI_Type_copy_attr_function = int(MPI_Datatype, int, void*, void*, void*, int*);
using MPI_Type_delete_attr_function = int(MPI_Datatype, int, void*, void*);

}  // namespace nagaya::mpi::openmpi
