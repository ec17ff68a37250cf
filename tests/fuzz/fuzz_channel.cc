// SPDX-License-Identifier: BSD-3-Clause
#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::receive_stream(data, bytes);
  return 0;
}
