// SPDX-License-Identifier: BSD-3-Clause
// preprocess.h - preprocesses a source in process, as the compiler behind would: with its macros
// and its folders. XMP directives leave the text; all other pragmas stay in it.
#pragma once

#include <string>
#include <vector>

#include "diagnostics.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// Macros and folders of the compiler behind, for one set of its flags.
struct CompilerView {
  std::string macros;                // #define lines
  std::vector<std::string> folders;  // of #include <...>
  std::string triple;                // x86_64-linux-gnu
  // Words of clang -cc1 that make its types those of the compiler behind.
  std::vector<std::string> target_words() const;
};

struct PreprocessorInput {
  std::string source;                  // its path
  std::string standard;                // "gnu17"
  std::vector<std::string> arguments;  // -D -U -I -isystem -iquote -idirafter -include -imacros
  CompilerView view;
  const std::string* contents = nullptr;  // instead of the file's, for tests
};

// Messages about units that use no XMP are not printed: the compiler behind repeats them.
Unit preprocess(const PreprocessorInput& input, Diagnostics& diagnostics);

}  // namespace nagaya::xmp
