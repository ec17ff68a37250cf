// SPDX-License-Identifier: BSD-3-Clause
#include "token_mutator.h"
#include "translation_target.h"

namespace {

// Lines with the names that all.c in the corpus declares.
std::vector<std::string> lines_of_xmp() {
  return nagaya::fuzz::lines_of(R"(#pragma xmp loop on t[i]
#pragma xmp loop on t[i] expand(1)
#pragma xmp loop (i) on t[i] margin(/unbound/1:0)
#pragma xmp loop on t[i] peel_and_wait(1, -1)
#pragma xmp loop on s(j, i) reduction(+: sum)
for (int i = 0; i < N; i++) w[i] = 1;
#pragma xmp reflect (u) width(1:1, 0) async(1)
#pragma xmp reduce_shadow(u)
#pragma xmp gmove
#pragma xmp gmove in async(2)
w[0:3] = u[2:3][1];
u[:][0] = w[:];
#pragma xmp array on t[:]
w[:] = w[:] + 1;
#pragma xmp barrier
#pragma xmp bcast(sum) from p[0]
#pragma xmp task on p[0]
#pragma xmp template_fix [gblock(sizes)] f[N]
static int x[4]:[*];
x[1]:[0] = x[2];
x[0:2]:[1] = x[1:2];
#pragma xmp post(p[0], 1)
#pragma xmp wait(p[0])
{
}
return 0;
)");
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t bytes, size_t bytes_max,
                                          unsigned seed) {
  static auto* const mutator =
      new nagaya::fuzz::TokenMutator(nagaya::fuzz::words_of_xmp(), lines_of_xmp());
  return mutator->mutate(data, bytes, bytes_max, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  nagaya::fuzz::translate_any_source(data, bytes);
  return 0;
}
