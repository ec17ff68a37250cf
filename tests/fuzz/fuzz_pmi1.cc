// SPDX-License-Identifier: BSD-3-Clause
#include "pmi1_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::answer_by_pmi(data, bytes);
  return 0;
}
