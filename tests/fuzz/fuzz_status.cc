// SPDX-License-Identifier: BSD-3-Clause
#include "status_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::show_status_payload(data, bytes);
  return 0;
}
