// SPDX-License-Identifier: BSD-3-Clause
#include <sanitizer/allocator_interface.h>

#include "backlog_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::fill_backlogs(data, bytes, __sanitizer_get_current_allocated_bytes);
  return 0;
}
