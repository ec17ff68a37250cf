// SPDX-License-Identifier: BSD-3-Clause
#include "channel_end_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::accept_channel_end(data, bytes);
  return 0;
}
