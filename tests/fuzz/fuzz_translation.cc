// SPDX-License-Identifier: BSD-3-Clause
#include "translation_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::translate_any_source(data, bytes);
  return 0;
}
