// SPDX-License-Identifier: BSD-3-Clause
#include "calls/others.h"

#include <algorithm>
#include <numeric>

#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

Others::Others(bool are_there, int count, MPI_Request* handles) : array_(handles) {
  if (!are_there) return;
  for (int n = 0; n < count; ++n) {
    if (handles[n] == MPI_REQUEST_NULL || Requests::find(handles[n]) != nullptr) continue;
    handles_.push_back(handles[n]);
    places_.push_back(n);
  }
  indices_.resize(handles_.size());
  statuses_.resize(handles_.size());
  are_active_ = true;
}

void Others::advance() const {
  int flag = 0;
  if (!is_empty()) beneath.Request_get_status(handles_.front(), &flag, MPI_STATUS_IGNORE);
}

bool Others::has_ended(int place) const {
  return std::any_of(ended_.begin(), ended_.end(),
                     [place](const Ended& one) { return one.place == place; });
}

bool Others::finish_test(int error, int ended) {
  if (error != MPI_SUCCESS) error_ = error;
  for (int n = 0; n < ended; ++n) {
    const auto index = static_cast<size_t>(indices_[static_cast<size_t>(n)]);
    ended_.push_back({places_[index], statuses_[static_cast<size_t>(n)]});
    if (error != MPI_ERR_IN_STATUS) ended_.back().status.MPI_ERROR = MPI_SUCCESS;
    array_[places_[index]] = handles_[index];
  }
  if (has_failed_whole()) are_active_ = false;
  return ended != 0 || error != MPI_SUCCESS;
}

bool Others::test_all() {
  if (!are_active_) return true;
  int flag = 0;
  const int error = beneath.Testall(count(), handles_.data(), &flag, statuses_.data());
  if (!flag && error == MPI_SUCCESS) return false;
  are_active_ = false;
  std::iota(indices_.begin(), indices_.end(), 0);
  return finish_test(error, error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS ? count() : 0);
}

bool Others::test_any() {
  if (!are_active_) return false;
  int flag = 0;
  const int error =
      beneath.Testany(count(), handles_.data(), indices_.data(), &flag, statuses_.data());
  const bool has_ended = flag && indices_[0] != MPI_UNDEFINED;
  are_active_ = has_ended || !flag;
  return finish_test(error, has_ended);
}

bool Others::test_some() {
  if (!are_active_) return false;
  int ended = 0;
  const int error =
      beneath.Testsome(count(), handles_.data(), &ended, indices_.data(), statuses_.data());
  are_active_ = ended != MPI_UNDEFINED;
  return finish_test(error, are_active_ ? ended : 0);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
