// SPDX-License-Identifier: BSD-3-Clause
// imports.h - functions that libraries import from each other, as the dynamic linker has bound
// them.
#pragma once

namespace nagaya::bootstrap {

// Binds that import, of all programs and libraries that this namespace has loaded, to the function.
// Nobody may load one meanwhile; whoever calls it just now gets the old or the new one.
void bind_import(const char* name, void* function);

}  // namespace nagaya::bootstrap
