// SPDX-License-Identifier: BSD-3-Clause
// The module's entry: module.h has its name and contract.
#include "fabric/libfabric.h"
#include "fabric/module.h"

extern "C" __attribute__((visibility("default"))) nagaya::fabric::Fabric* nagaya_fabric_create(
    const std::string& device) {
  return nagaya::fabric::create_libfabric(device).release();
}
