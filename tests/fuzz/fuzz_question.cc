// SPDX-License-Identifier: BSD-3-Clause
#include "question_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::decode_question_payload(data, bytes);
  return 0;
}
