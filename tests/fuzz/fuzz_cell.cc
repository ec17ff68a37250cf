// SPDX-License-Identifier: BSD-3-Clause
#include "cell_target.h"

// A matcher lives as long as its process: messages that nobody received are left.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::hear_cells(data, bytes);
  return 0;
}
