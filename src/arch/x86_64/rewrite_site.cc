// SPDX-License-Identifier: BSD-3-Clause
// rewrite_site.cc - writes the call of redirect_site.cc or answer_site.cc into a window.
// Freestanding: it also runs in a task, while its dynamic linker maps libc.
#include "arch/arch.h"

namespace nagaya::arch {

void rewrite_site(std::byte* window, const RedirectSite& site, uintptr_t table) {
  constexpr size_t kLoadBytes = 5, kCallBytes = 7;
  const auto address = static_cast<uint32_t>(table + site.slot * sizeof(void*));
  // What stands in an answered window is in its thunk.
  const size_t middle = site.number == kAnswered ? 0 : site.window_bytes - kCallBytes;
  auto* bytes = reinterpret_cast<volatile uint8_t*>(window);
  for (size_t n = 0; n < middle; ++n) bytes[n] = bytes[n + kLoadBytes];
  const uint8_t call[kCallBytes] = {0xff,
                                    0x14,
                                    0x25,
                                    static_cast<uint8_t>(address),
                                    static_cast<uint8_t>(address >> 8),
                                    static_cast<uint8_t>(address >> 16),
                                    static_cast<uint8_t>(address >> 24)};
  for (size_t n = 0; n < kCallBytes; ++n) bytes[middle + n] = call[n];
  for (size_t n = middle + kCallBytes; n < site.window_bytes; ++n) bytes[n] = 0x90;  // nop
}

}  // namespace nagaya::arch
