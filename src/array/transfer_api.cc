// SPDX-License-Identifier: BSD-3-Clause
// transfer_api.cc - the C functions of nagaya/array.h for assignments between sections.
#include <errno.h>

#include <memory>

#include "array/transfer.h"
#include "base/catch_errors.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/processes.h"

using nagaya::array::Assignment;
using nagaya::array::Side;
using nagaya::array::TransferPlan;
using nagaya::base::catch_errors;
using nagaya::llcl::Endpoint;

struct nagaya_transfers : nagaya::array::Transfers {
  using Transfers::Transfers;
};

int nagaya_transfers_open(const nagaya_processes* processes, uint64_t name,
                          nagaya_transfers** out) {
  if (processes == nullptr || out == nullptr || name >> 55 != 0 || !processes->set->has_caller())
    return -EINVAL;
  return catch_errors([&] {
    auto transfers = std::make_unique<nagaya_transfers>(processes->set, name);
    if (processes->set->size() > 1) {
      Endpoint* const endpoint = Endpoint::own();
      if (endpoint == nullptr) return -ESRCH;
      if (const int error = transfers->open(endpoint->board(), endpoint->record()); error != 0)
        return error;
    }
    *out = transfers.release();
    return 0;
  });
}

void nagaya_transfers_close(nagaya_transfers* transfers) {
  delete transfers;
}

int nagaya_array_transfer(nagaya_transfers* transfers, const nagaya_array_side* to,
                          const nagaya_array_side* from) {
  const nagaya::processes::ProcessSet& members = transfers->members().processes();
  if (members.size() > 1 && Endpoint::own() == nullptr) return -ESRCH;
  if (transfers->error() != 0) return transfers->error();
  if (!Side::is_valid(*to, members) || !Side::is_valid(*from, members)) return -EINVAL;
  return catch_errors([&] {
    if (!TransferPlan::are_conformable(Side(*to, members), Side(*from, members))) return -EINVAL;
    Assignment assignment(transfers->members(), transfers->parts_of(*to, *from), to->base,
                          from->base);
    if (!assignment.advance())
      Endpoint::own()->wait(nagaya::llcl::Purpose::kArray, [&] { return assignment.advance(); });
    transfers->fail(assignment.error());
    return assignment.error();
  });
}
