// SPDX-License-Identifier: BSD-3-Clause
// provider.h - libfabric's objects of one endpoint: which provider, opened how, closed in which
// order.
#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <memory>
#include <string>

namespace nagaya::fabric {

struct FidCloser {
  template <typename Object>
  void operator()(Object* object) const {
    ::fi_close(&object->fid);
  }
};
struct InfoFreer {
  void operator()(fi_info* info) const { ::fi_freeinfo(info); }
};
template <typename Object>
using Owned = std::unique_ptr<Object, FidCloser>;
using Info = std::unique_ptr<fi_info, InfoFreer>;

struct Endpoint {  // destroyed from below
  Info info;
  Owned<fid_fabric> fabric;
  Owned<fid_domain> domain;
  Owned<fid_av> addresses;
  Owned<fid_cq> completions;
  Owned<fid_ep> endpoint;
  int wait_fd = -1;                    // of the completion queue
  bool tells_of_sockets_only = false;  // wait_fd: not of completions that the queue already has
  size_t message_max_bytes = 0;

  // Whether wait_fd will tell of all that comes from now on.
  bool may_sleep() const;
};

// Throws base::Error: no such provider, no network.
Endpoint open_endpoint(size_t completions_max, fi_threading threading = FI_THREAD_DOMAIN);

// "<what> failed: <libfabric's words>" when `result` is not 0.
void check(long result, const std::string& what);

// libfabric's error codes from 256 on are no errno values.
inline int errno_of(long error) {
  return error < FI_ERRNO_OFFSET ? static_cast<int>(error) : EIO;
}

}  // namespace nagaya::fabric
