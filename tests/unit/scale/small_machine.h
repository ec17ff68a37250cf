// SPDX-License-Identifier: BSD-3-Clause
// small_machine.h - a machine with round figures, for times computed by hand: 2 sockets of 2
// clusters of 2 cores.
#pragma once

#include "scale/description.h"

namespace nagaya::bench::scale {

inline Description small_machine() {
  Description machine;
  machine.name = "small";
  machine.sockets = machine.clusters = machine.cores = 2;
  machine.access_ns = 1;
  machine.look_ns = 7;
  machine.transfer_ns[0] = 20, machine.transfer_ns[1] = 100, machine.transfer_ns[2] = 200;
  machine.service_ns[0] = 5, machine.service_ns[1] = 30, machine.service_ns[2] = 40;
  machine.shared_ns = 10;
  machine.memory_ns = 150;
  machine.outstanding = machine.stream_outstanding = machine.store_outstanding = 2;
  machine.own_stream_ns = 2;
  machine.cluster_gbs = machine.memory_gbs = 64;  // a line in 1 ns
  machine.core_cache_bytes = 4 * 64;
  machine.cluster_cache_bytes = 1024 * 64;
  machine.yield_ns = 50;
  return machine;
}

}  // namespace nagaya::bench::scale
