// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "requests.h"

namespace nagaya::bench {
namespace {

void check_call(int error, const char* what) {
  if (error != 0) throw base::Error(error, std::string(what) + ": " + std::strerror(-error));
}

// The places that the two processes exchange at the start.
struct Places {
  nagaya_remote memory, word;
};
struct RawPlaces {
  uint32_t address_bytes;
  char address[256];
  fabric::Region memory;
};

// Sends `own` to the other process; returns the other's.
template <class Data>
Data exchange(const Data& own) {
  Data all[2];
  check_call(::nagaya_comm_allgather(&own, sizeof own, all), "allgather");
  return all[1 - ::nagaya_comm_rank()];
}

// Returns the host's pid: it is the first child of the reaper, the parent of all tasks.
pid_t host_of_this_task() {
  const auto reaper = std::to_string(::getppid());
  pid_t host = 0;
  std::ifstream("/proc/" + reaper + "/task/" + reaper + "/children") >> host;
  return host;
}

cpu_set_t processors_between(int first, int last) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int processor = first; processor <= last; ++processor) CPU_SET(processor, &set);
  return set;
}

}  // namespace

Pair::Pair(bool corrupt) {
  check_call(::nagaya_comm_init(), "needs a job of Nagaya's: nagaya run -n 2");
  if (::nagaya_comm_size() != 2)
    throw base::Error(-EINVAL, "needs a job of two processes: nagaya run -n 2");
  bytes_ = base::reserve_memory(kMemoryBytes, "no memory to be read");
  for (size_t at = 0; at < kMemoryBytes; ++at) bytes_.data()[at] = pattern_at(at);
  if (corrupt) bytes_.data()[0] = kUnread;
  Places own{};
  check_call(::nagaya_llcl_register(bytes_.data(), kMemoryBytes, &own.memory), "register");
  check_call(::nagaya_llcl_register(&own_word_, sizeof own_word_, &own.word), "register");
  const Places other = exchange(own);
  memory_ = other.memory;
  word_ = other.word;
  for (const auto sharing : {Sharing::kOneThread, Sharing::kMutex, Sharing::kThreadSafe})
    open_raw(sharing);
}

Pair::~Pair() {
  try {
    if (measures()) order({Order::Kind::kEnd, 0, {}, {}});
  } catch (const base::Error&) {
    return;  // the other process has ended, and the job with it
  }
  ::nagaya_comm_finalize();
}

void Pair::open_raw(Sharing sharing) {
  auto fabric = std::make_unique<RawFabric>(sharing);
  RawPlaces own{};
  const std::string address = fabric->address();
  own.address_bytes = static_cast<uint32_t>(address.copy(own.address, sizeof own.address));
  own.memory = fabric->expose(bytes_.data(), kMemoryBytes);
  const RawPlaces other = exchange(own);
  fabric->connect(std::string(other.address, other.address_bytes), other.memory);
  raw_[static_cast<size_t>(sharing)] = std::move(fabric);
}

void Pair::order(const Order& order) {
  exchange(order);
}

void Pair::follow() {
  for (;;) {
    const Order order = exchange(Order{});
    switch (order.kind) {
      case Order::Kind::kEnd:
        return;
      case Order::Kind::kBind:
        bind_process(false, order.is_alone);
        break;
      case Order::Kind::kServe:
        raw(order.sharing).serve(own_word_, order.pause);
    }
  }
}

void Pair::reset_word() {
  uint64_t zero = 0;
  uint32_t written = 0;
  const nagaya_llcl_transfer transfer{word_, &zero, sizeof zero, nagaya_flag(&written)};
  check_call(::nagaya_llcl_try_write(&transfer), "write");
  check_call(::nagaya_llcl_wait_flag(&written, -1), "write");
}

void bind_process(bool measures, bool alone) {
  const int last = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)) - 1;
  const cpu_set_t server = processors_between(last, last), requester = processors_between(0, 0);
  const bool is_lone = ::nagaya_comm_nodes() == 1;
  const cpu_set_t own = processors_between(is_lone || measures ? 0 : (last + 1) / 2,
                                           is_lone || !measures ? last : last / 2);
  const auto bind = [](pid_t thread, const cpu_set_t& to) {
    if (::sched_setaffinity(thread, sizeof to, &to) != 0) base::throw_errno("sched_setaffinity");
  };
  bind(0, !alone ? own : measures ? requester : server);
  const auto threads = "/proc/" + std::to_string(host_of_this_task()) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads))
    bind(std::stoi(thread.path().filename()), alone ? server : own);
}

}  // namespace nagaya::bench
