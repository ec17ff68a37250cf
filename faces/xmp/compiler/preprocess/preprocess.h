// SPDX-License-Identifier: BSD-3-Clause
// preprocess.h - preprocesses a source within xmpcc, with the macros and folders of the compiler
// behind. XMP directives are taken out of the text; all other pragmas stay in it.
#pragma once

#include <string>
#include <vector>

#include "diagnostics.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// Macros, folders and target of the compiler behind, for one set of its flags.
struct CompilerView {
  std::string macros;                // #define lines
  std::vector<std::string> folders;  // of #include <...>
  std::string triple;                // x86_64-linux-gnu
  // Returns words for clang -cc1 that give its types the sizes and signs of the compiler behind.
  std::vector<std::string> target_words() const;
};

struct PreprocessorInput {
  std::string source;                  // its path
  std::string standard;                // "gnu17"
  std::vector<std::string> arguments;  // -D -U -I -isystem -iquote -idirafter -include -imacros
  CompilerView view;
  const std::string* contents = nullptr;  // used instead of the file's text, for tests
};

// Returns the preprocessed unit. Messages about units that use no XMP are not printed, because the
// compiler behind prints them when it compiles the source.
Unit preprocess(const PreprocessorInput& input, Diagnostics& diagnostics);

}  // namespace nagaya::xmp
