// SPDX-License-Identifier: BSD-3-Clause
#include "directive_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::parse_any_directive(data, bytes);
  return 0;
}
