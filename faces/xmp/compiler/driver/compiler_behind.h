// SPDX-License-Identifier: BSD-3-Clause
// compiler_behind.h - the C compiler that compiles and links xmpcc's translations.
#pragma once

#include <string>
#include <vector>

#include "preprocess/preprocess.h"

namespace nagaya::xmp {

class CompilerBehind {
 public:
  // `wished`: the argument of --cc. If it is empty, XMPCC_CC names the compiler; else it is the
  // first of gcc, clang-14, clang-19, clang that PATH has. May be several words: "gcc -m32". Throws
  // std::runtime_error if there is none.
  explicit CompilerBehind(const std::string& wished);

  // Whether the user has named the compiler.
  bool is_named() const { return is_named_; }
  // Returns the compiler's words followed by `more`.
  std::vector<std::string> with(const std::vector<std::string>& more) const;
  // Runs the compiler with these flags to ask for its macros, folders and target. Throws
  // std::runtime_error if it does not answer.
  CompilerView view(const std::vector<std::string>& flags) const;

 private:
  std::vector<std::string> words_;
  bool is_named_;
};

}  // namespace nagaya::xmp
