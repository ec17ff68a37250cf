// SPDX-License-Identifier: BSD-3-Clause
// imports.h - functions that libraries import from each other, as the dynamic linker has bound
// them.
#pragma once

namespace nagaya::bootstrap {

// Binds the import `name` of all programs and libraries that this namespace has loaded to
// `function`. Nobody may load a library meanwhile; a concurrent call gets the old or the new
// function.
void bind_import(const char* name, void* function);

}  // namespace nagaya::bootstrap
