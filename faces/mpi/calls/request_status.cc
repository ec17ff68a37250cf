// SPDX-License-Identifier: BSD-3-Clause
// request_status.cc - MPI_Request_get_status_any, _all and _some, of MPI 4.1: they end no request.
// Made of MPI_Request_get_status if there are requests of ours, or the MPI beneath is older.
#include <algorithm>

#include "calls/calls.h"
#include "calls/completion.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

bool has_ours(int count, const MPI_Request* handles) {
  return std::any_of(handles, handles + count,
                     [](MPI_Request handle) { return Requests::find(handle) != nullptr; });
}

bool is_active(MPI_Request handle) {
  const Request* const request = Requests::find(handle);
  return request != nullptr ? request->is_active : handle != MPI_REQUEST_NULL;
}

int get_status_any(int count, const MPI_Request* handles, int* index, int* flag,
                   MPI_Status* status) {
  if (is_supported(beneath.Request_get_status_any) && !has_ours(count, handles))
    return beneath.Request_get_status_any(count, handles, index, flag, status);
  bool has_active = false;
  *index = MPI_UNDEFINED;
  for (int n = 0; n < count; ++n) {
    if (!is_active(handles[n])) continue;
    has_active = true;
    const int error = get_status(handles[n], flag, status);
    if (*flag) *index = n;
    if (*flag || error != MPI_SUCCESS) return error;
  }
  *flag = !has_active;
  if (*flag) set_empty_status(status);
  return MPI_SUCCESS;
}

int get_status_all(int count, const MPI_Request* handles, int* flag, MPI_Status* statuses) {
  if (is_supported(beneath.Request_get_status_all) && !has_ours(count, handles))
    return beneath.Request_get_status_all(count, handles, flag, statuses);
  *flag = 1;
  for (int n = 0; n < count; ++n) {
    const int error = get_status(handles[n], flag, MPI_STATUS_IGNORE);
    if (!*flag || error != MPI_SUCCESS) return error;
  }
  int is_complete = 0;
  for (int n = 0; statuses != MPI_STATUSES_IGNORE && n < count; ++n)
    get_status(handles[n], &is_complete, &statuses[n]);
  return MPI_SUCCESS;
}

int get_status_some(int count, const MPI_Request* handles, int* done, int* indices,
                    MPI_Status* statuses) {
  if (is_supported(beneath.Request_get_status_some) && !has_ours(count, handles))
    return beneath.Request_get_status_some(count, handles, done, indices, statuses);
  int found = 0;
  bool has_active = false;
  for (int n = 0; n < count; ++n) {
    if (!is_active(handles[n])) continue;
    has_active = true;
    int is_complete = 0;
    MPI_Status* const status =
        statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[found];
    const int error = get_status(handles[n], &is_complete, status);
    if (error != MPI_SUCCESS) return error;
    if (is_complete) indices[found++] = n;
  }
  *done = has_active ? found : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

}  // namespace

void add_request_status(Functions& ours) {
  ours.Request_get_status_any = get_status_any;
  ours.Request_get_status_all = get_status_all;
  ours.Request_get_status_some = get_status_some;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
