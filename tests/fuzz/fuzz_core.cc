// SPDX-License-Identifier: BSD-3-Clause
#include "core_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::read_core(data, bytes);
  return 0;
}
