// SPDX-License-Identifier: BSD-3-Clause
// provider.h - libfabric's objects of one endpoint: chooses the provider, opens them, and closes
// them in the right order.
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

struct Endpoint {  // the last member is destroyed first
  Info info;
  Owned<fid_fabric> fabric;
  Owned<fid_domain> domain;
  Owned<fid_av> addresses;
  Owned<fid_cq> completions;
  Owned<fid_ep> endpoint;
  int wait_fd = -1;                    // of the completion queue
  bool tells_of_sockets_only = false;  // wait_fd does not wake for completions already in the queue
  size_t message_max_bytes = 0;

  // True if wait_fd will wake for all completions from now on.
  bool may_sleep() const;
};

// On a network device by its name (of libfabric's domain: eth0, mlx5_0); "": on the one that
// libfabric names first. Throws base::Error: no such provider or device, no network.
Endpoint open_endpoint(const std::string& device, size_t completions_max,
                       fi_threading threading = FI_THREAD_DOMAIN);

// Throws base::Error "<what> failed: <libfabric's words>" when `result` is not 0.
void check(long result, const std::string& what);

// libfabric's error codes from 256 on are no errno values.
inline int errno_of(long error) {
  return error < FI_ERRNO_OFFSET ? static_cast<int>(error) : EIO;
}

}  // namespace nagaya::fabric
