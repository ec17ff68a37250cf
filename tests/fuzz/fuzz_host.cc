// SPDX-License-Identifier: BSD-3-Clause
#include "host_target.h"

// Before libFuzzer starts its thread, which would take the signal from the host, and which a fork
// would lose.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  static const nagaya::fuzz::BlockedSignal for_ever;
  nagaya::own_reaper();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::serve_liars(data, bytes);
  return 0;
}
