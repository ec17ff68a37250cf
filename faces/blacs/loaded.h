// SPDX-License-Identifier: BSD-3-Clause
// loaded.h - functions of the libraries that this process has loaded, also of those that a program
// loads by itself for no other library to see (RTLD_LOCAL: what Python's ctypes does).
#pragma once

#include <string>

namespace nagaya::blacs {

struct Loaded {
  void* symbol = nullptr;
  std::string file;  // that has it
};

// The first one outside of this library, in the order in which its libraries were loaded.
Loaded find_loaded(const char* name);

}  // namespace nagaya::blacs
