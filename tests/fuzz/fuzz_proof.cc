// SPDX-License-Identifier: BSD-3-Clause
#include "proof_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::alter_signed_batch(data, bytes);
  return 0;
}
