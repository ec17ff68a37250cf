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

bool Others::has(int place) const {
  return std::binary_search(places_.begin(), places_.end(), place);
}

void Others::advance() const {
  int flag = 0;
  if (!is_empty()) beneath.Request_get_status(handles_.front(), &flag, MPI_STATUS_IGNORE);
}

bool Others::end(int ended) {
  ended_ = ended;
  for (size_t n = 0; n < handles_.size(); ++n) array_[places_[n]] = handles_[n];
  return ended != 0 || error_ != MPI_SUCCESS;
}

bool Others::test_all() {
  if (is_empty() || ended_ != 0) return true;
  int flag = 0;
  error_ = beneath.Testall(count(), handles_.data(), &flag, statuses_.data());
  if (!flag && error_ == MPI_SUCCESS) return false;
  std::iota(indices_.begin(), indices_.end(), 0);
  return end(error_ == MPI_SUCCESS || error_ == MPI_ERR_IN_STATUS ? count() : 0);
}

bool Others::test_any() {
  if (is_empty()) return false;
  int flag = 0;
  error_ = beneath.Testany(count(), handles_.data(), indices_.data(), &flag, statuses_.data());
  const bool has_ended = flag && indices_[0] != MPI_UNDEFINED;
  are_active_ = has_ended || !flag;
  return end(has_ended);
}

bool Others::test_some() {
  if (is_empty()) return false;
  int ended = 0;
  error_ = beneath.Testsome(count(), handles_.data(), &ended, indices_.data(), statuses_.data());
  are_active_ = ended != MPI_UNDEFINED;
  return end(are_active_ ? ended : 0);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
