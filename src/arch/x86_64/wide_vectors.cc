// SPDX-License-Identifier: BSD-3-Clause
#include <cpuid.h>

#include "arch/arch.h"

namespace nagaya::arch {

// As in Intel's manual (volume 1, "Detection of Intel AVX2"): the kernel keeps the upper halves of
// the registers, and the processor has the instructions.
bool has_wide_vectors() {
  constexpr uint32_t kNeeded = bit_OSXSAVE | bit_AVX, kSavedSseAndAvx = 6;
  CpuidRegisters got{};
  if (__get_cpuid(1, &got.eax, &got.ebx, &got.ecx, &got.edx) == 0 || (got.ecx & kNeeded) != kNeeded)
    return false;
  uint32_t saved, high;
  asm volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  return (saved & kSavedSseAndAvx) == kSavedSseAndAvx &&
         __get_cpuid_count(7, 0, &got.eax, &got.ebx, &got.ecx, &got.edx) != 0 &&
         (got.ebx & bit_AVX2) != 0;
}

}  // namespace nagaya::arch
