// SPDX-License-Identifier: BSD-3-Clause
#include "card_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::decode_published_card(data, bytes);
  return 0;
}
