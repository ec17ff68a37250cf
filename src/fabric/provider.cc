// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/provider.h"

#include <sys/epoll.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>

#include "base/error.h"

namespace nagaya::fabric {
namespace {

// libfabric's variables, set unless the user has set them. FI_AV_REMOVE_CLEANUP: removing a dead
// peer's address closes its connection. The buffers take 9 MB an endpoint instead of 70 (measured
// with 1.17).
struct Default {
  const char* name;
  const char* value;
};
constexpr Default kDefaults[] = {
    {"FI_AV_REMOVE_CLEANUP", "1"},    {"FI_OFI_RXM_BUFFER_SIZE", "8192"},
    {"FI_OFI_RXM_TX_SIZE", "512"},    {"FI_OFI_RXM_RX_SIZE", "512"},
    {"FI_OFI_RXM_MSG_TX_SIZE", "64"}, {"FI_OFI_RXM_MSG_RX_SIZE", "64"},
};
// ofi_rxm and some other providers divide or fetch larger messages, and report them after smaller
// ones that came later. TCP's own provider sends messages of any size whole.
constexpr size_t kMessageMaxBytes = 8 << 10, kTcpMessageMaxBytes = 32 << 10;

// The name of TCP's own provider. TCP by way of ofi_rxm takes 1.2 to 1.9 times as long for a small
// message.
const char* own_tcp() {
  return FI_VERSION_LT(::fi_version(), FI_VERSION(1, 18)) ? "net" : "tcp";
}
bool is_own_tcp(const fi_info& info) {
  const std::string_view name = info.fabric_attr->prov_name;
  return name == "net" || name == "tcp";
}

void set_defaults() {
  ::setenv("FI_PROVIDER", own_tcp(), 0);
  for (const Default& entry : kDefaults) ::setenv(entry.name, entry.value, 0);
}

Info wanted(fi_threading threading) {
  Info hints(::fi_allocinfo());
  if (hints == nullptr) throw base::Error(-ENOMEM, "no memory for libfabric");
  // Not FI_ATOMIC: on ofi_rxm it costs the order of messages.
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->threading = threading;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  return hints;
}

void check_buffers() {
  const char* text = ::getenv("FI_OFI_RXM_BUFFER_SIZE");
  if (std::strtoull(text, nullptr, 0) < kMessageMaxBytes)
    throw base::Error(-EINVAL, std::string("FI_OFI_RXM_BUFFER_SIZE=") + text +
                                   " is too small; unset it, or give " +
                                   std::to_string(kMessageMaxBytes) + " or more");
}

// Removes from wait_fd the socket by which TCP's own provider tells a sleeper of a completion.
// Before libfabric 1.19 the provider never reads that socket empty, so wait_fd would stay readable.
// The network sockets do not lie in wait_fd itself, but in an epoll descriptor inside of it.
void take_signal_out_of(int wait_fd) {
  std::ifstream members("/proc/self/fdinfo/" + std::to_string(wait_fd));
  std::string word;
  int member;
  while (members >> word) {
    struct stat about {};
    if (word == "tfd:" && members >> member && ::fstat(member, &about) == 0 &&
        S_ISSOCK(about.st_mode))
      ::epoll_ctl(wait_fd, EPOLL_CTL_DEL, member, nullptr);
  }
}

// Returns the first of `all` on that device.
Info choose_device(Info all, const std::string& device) {
  if (device.empty()) return all;
  std::set<std::string> others;
  for (const fi_info* one = all.get(); one != nullptr; one = one->next) {
    if (device == one->domain_attr->name) {
      Info chosen(::fi_dupinfo(one));
      if (chosen == nullptr) throw base::Error(-ENOMEM, "no memory for libfabric");
      return chosen;
    }
    others.insert(one->domain_attr->name);
  }
  std::string names;
  for (const std::string& other : others) names += (names.empty() ? "" : ", ") + other;
  throw base::Error(-ENODEV, "no network device " + device + " for FI_PROVIDER=" +
                                 ::getenv("FI_PROVIDER") + ": it has " + names);
}

Info find_provider(const std::string& device, fi_threading threading) {
  set_defaults();
  check_buffers();
  fi_info* found = nullptr;
  const int result =
      ::fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, wanted(threading).get(), &found);
  if (result != 0)
    throw base::Error(result == -FI_ENODATA ? -ENODEV : -errno_of(-result),
                      std::string("no fabric for FI_PROVIDER=") + ::getenv("FI_PROVIDER") + ": " +
                          ::fi_strerror(-result) +
                          "; fi_info -l lists the providers, and a network must be up");
  return choose_device(Info(found), device);
}

template <typename Object, typename Open>
Owned<Object> opened(const char* what, Open open) {
  Object* object = nullptr;
  check(open(&object), what);
  return Owned<Object>(object);
}

}  // namespace

void check(long result, const std::string& what) {
  if (result != 0)
    throw base::Error(-errno_of(-result),
                      what + " failed: " + ::fi_strerror(static_cast<int>(-result)));
}

bool Endpoint::may_sleep() const {
  if (tells_of_sockets_only && ::fi_cq_read(completions.get(), nullptr, 0) != -FI_EAGAIN)
    return false;
  fid* waited[] = {&completions->fid};
  return ::fi_trywait(fabric.get(), waited, 1) == FI_SUCCESS;
}

Endpoint open_endpoint(const std::string& device, size_t completions_max, fi_threading threading) {
  Endpoint opening;
  opening.info = find_provider(device, threading);
  fi_info* const info = opening.info.get();
  opening.message_max_bytes = is_own_tcp(*info) ? kTcpMessageMaxBytes : kMessageMaxBytes;
  opening.fabric = opened<fid_fabric>(
      "fi_fabric", [&](auto** f) { return ::fi_fabric(info->fabric_attr, f, nullptr); });
  opening.domain = opened<fid_domain>("fi_domain", [&](auto** domain) {
    return ::fi_domain(opening.fabric.get(), info, domain, nullptr);
  });

  fi_av_attr addresses{};
  addresses.type = FI_AV_TABLE;
  opening.addresses = opened<fid_av>("fi_av_open", [&](auto** av) {
    return ::fi_av_open(opening.domain.get(), &addresses, av, nullptr);
  });

  fi_cq_attr completions{};
  completions.size = completions_max;
  completions.format = FI_CQ_FORMAT_MSG;
  completions.wait_obj = FI_WAIT_FD;
  opening.completions = opened<fid_cq>("fi_cq_open", [&](auto** cq) {
    return ::fi_cq_open(opening.domain.get(), &completions, cq, nullptr);
  });
  check(::fi_control(&opening.completions->fid, FI_GETWAIT, &opening.wait_fd), "FI_GETWAIT");
  opening.tells_of_sockets_only =
      is_own_tcp(*info) && FI_VERSION_LT(::fi_version(), FI_VERSION(1, 19));
  if (opening.tells_of_sockets_only) take_signal_out_of(opening.wait_fd);

  opening.endpoint = opened<fid_ep>("fi_endpoint", [&](auto** endpoint) {
    return ::fi_endpoint(opening.domain.get(), info, endpoint, nullptr);
  });
  fid_ep* const endpoint = opening.endpoint.get();
  check(::fi_ep_bind(endpoint, &opening.addresses->fid, 0), "fi_ep_bind");
  check(::fi_ep_bind(endpoint, &opening.completions->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  check(::fi_enable(endpoint), "fi_enable");
  return opening;
}

}  // namespace nagaya::fabric
