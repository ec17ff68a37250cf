// SPDX-License-Identifier: BSD-3-Clause
// printable.h - text for a terminal. Names of programs, folders and jobs come from outside: a line
// break in one would forge a line of ours, an escape sequence would command the terminal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nagaya::base {

// Returns the length [bytes] of the UTF-8 character that `text` begins with, and stores the
// character; 0: `text` begins with none (a stray byte, an overlong form, a surrogate).
inline size_t decode_utf8(std::string_view text, uint32_t* character) {
  const auto byte = [&](size_t n) { return static_cast<unsigned char>(text[n]); };
  const unsigned char lead = byte(0);
  const size_t bytes = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (bytes == 0 || bytes > text.size() || lead > 0xf4) return 0;
  *character = bytes == 1 ? lead : lead & (0x7fU >> bytes);
  for (size_t n = 1; n < bytes; ++n) {
    if ((byte(n) & 0xc0) != 0x80) return 0;
    *character = *character << 6 | (byte(n) & 0x3fU);
  }
  constexpr std::array<uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = *character >= 0xd800 && *character < 0xe000;
  return *character < kLeast[bytes] || *character > 0x10ffff || is_surrogate ? 0 : bytes;
}

// Control characters (C0, DEL, C1), and those that break lines or change the direction of text.
inline bool is_control(uint32_t character) {
  return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x61c ||
         character == 0x200e || character == 0x200f ||
         (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069);
}

// Returns the text as one line that a terminal shows and does not obey: each byte of a control
// character, and each one that is not UTF-8, as \xNN.
inline std::string printable(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  while (!text.empty()) {
    uint32_t character = 0;
    const size_t bytes = decode_utf8(text, &character);
    if (bytes != 0 && !is_control(character)) {
      line += text.substr(0, bytes);
    } else {
      for (const char c : text.substr(0, bytes == 0 ? 1 : bytes)) {
        const auto value = static_cast<unsigned char>(c);
        line += {'\\', 'x', kDigits[value >> 4], kDigits[value & 15]};
      }
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return line;
}

}  // namespace nagaya::base
