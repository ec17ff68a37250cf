// SPDX-License-Identifier: BSD-3-Clause
// loaded.h - looks up functions in the libraries that this process has loaded, also in those that
// other libraries cannot see (loaded with RTLD_LOCAL, as Python's ctypes does).
#pragma once

#include <string>

namespace nagaya::blacs {

struct LoadedSymbol {
  void* symbol = nullptr;
  std::string file;  // path of the library that has it
};

// Returns the first symbol of that name outside of this library, in the order in which the
// libraries of the process were loaded; an empty one if there is none.
LoadedSymbol find_loaded_symbol(const char* name);

}  // namespace nagaya::blacs
