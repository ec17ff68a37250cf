// SPDX-License-Identifier: BSD-3-Clause
// handles.cc - conversions of requests and messages from and to the numbers of Fortran, and of MPI
// 5 to int. Both are the same number, for ours as for those of the MPI beneath.
#include "calls/calls.h"
#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

MPI_Fint request_c2f(MPI_Request handle) {
  const Request* const request = Requests::find(handle);
  return request != nullptr ? Requests::fortran_of(request) : beneath.Request_toint(handle);
}

MPI_Request request_f2c(MPI_Fint number) {
  Request* const request = Requests::find_by_fortran(number);
  return request != nullptr ? Requests::handle_of(request) : beneath.Request_fromint(number);
}

MPI_Fint message_c2f(MPI_Message handle) {
  const Request* const message = Requests::find(handle);
  return message != nullptr ? Requests::fortran_of(message) : beneath.Message_toint(handle);
}

MPI_Message message_f2c(MPI_Fint number) {
  Request* const message = Requests::find_by_fortran(number);
  return message != nullptr ? Requests::message_of(message) : beneath.Message_fromint(number);
}

}  // namespace

void add_handles(Functions& ours) {
  ours.Request_c2f = ours.Request_toint = request_c2f;
  ours.Request_f2c = ours.Request_fromint = request_f2c;
  ours.Message_c2f = ours.Message_toint = message_c2f;
  ours.Message_f2c = ours.Message_fromint = message_f2c;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
