// SPDX-License-Identifier: BSD-3-Clause
// random.h - random numbers of the kernel, fit for keys. Each call is one system call.
#pragma once

#include <sys/random.h>

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "base/error.h"

namespace nagaya::base {

// Fills at most 256 bytes: the kernel gives so many whole or not at all.
inline void fill_random(std::span<uint8_t> bytes) {
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw_errno("getrandom");
}

inline uint64_t random_number() {
  uint64_t number = 0;
  fill_random({reinterpret_cast<uint8_t*>(&number), sizeof number});
  return number;
}

// A random number as 16 hexadecimal digits.
inline std::string random_digits() {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016" PRIx64, random_number());
  return digits;
}

// A number from 0 to bound - 1, for bounds up to 2^40: then the lower numbers are more likely than
// the higher ones by less than 2^-24 of their likelihood.
inline uint64_t random_below(uint64_t bound) {
  return random_number() % bound;
}

}  // namespace nagaya::base
