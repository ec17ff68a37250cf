// SPDX-License-Identifier: BSD-3-Clause
#include "directive_target.h"
#include "token_mutator.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t bytes, size_t bytes_max,
                                          unsigned seed) {
  static auto* const mutator = new nagaya::fuzz::TokenMutator(nagaya::fuzz::words_of_xmp(), {});
  return mutator->mutate(data, bytes, bytes_max, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::parse_any_directive(data, bytes);
  return 0;
}
