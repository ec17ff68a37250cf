// SPDX-License-Identifier: BSD-3-Clause
// rewrite_site.cc - writes the call that redirect_site.cc or answer_site.cc describes into a
// window. Freestanding: it also runs in a task, while its dynamic linker maps libc.
#include "arch/arch.h"

namespace nagaya::arch {

void rewrite_site(std::byte* window, const RedirectSite& site, uintptr_t table) {
  constexpr size_t kLoadBytes = 5, kCallBytes = 7;
  constexpr uint8_t kBelowRedZone[] = {0x48, 0x8d, 0x64, 0x24, 0x80};  // lea -128(%rsp),%rsp
  const auto address = static_cast<uint32_t>(table + site.slot * sizeof(void*));
  auto* bytes = reinterpret_cast<volatile uint8_t*>(window);
  auto* const end = bytes + site.window_bytes;
  if (site.number == kCpuidSiteBelowRedZone) {
    for (const uint8_t byte : kBelowRedZone) *bytes++ = byte;
  } else if (site.number != kCpuidSite) {  // an answered window's code is in its thunk
    for (; end - bytes > static_cast<ptrdiff_t>(kCallBytes); ++bytes) *bytes = bytes[kLoadBytes];
  }
  const uint8_t call[kCallBytes] = {0xff,
                                    0x14,
                                    0x25,
                                    static_cast<uint8_t>(address),
                                    static_cast<uint8_t>(address >> 8),
                                    static_cast<uint8_t>(address >> 16),
                                    static_cast<uint8_t>(address >> 24)};
  for (const uint8_t byte : call) *bytes++ = byte;
  while (bytes != end) *bytes++ = 0x90;  // nop
}

}  // namespace nagaya::arch
