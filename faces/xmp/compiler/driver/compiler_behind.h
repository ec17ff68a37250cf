// SPDX-License-Identifier: BSD-3-Clause
// compiler_behind.h - the C compiler that makes objects of what xmpcc writes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "preprocess/preprocess.h"

namespace nagaya::xmp {

class CompilerBehind {
 public:
  // `wished`: of --cc; else that of XMPCC_CC, else the first of gcc, clang-14, clang-19, clang that
  // is there. May have words: "gcc -m32". Throws std::runtime_error: there is none.
  explicit CompilerBehind(const std::string& wished);

  const std::vector<std::string>& words() const { return words_; }
  std::vector<std::string> with(const std::vector<std::string>& more) const;
  // Its macros, folders and target with these flags. Throws std::runtime_error: it does not say.
  CompilerView view(const std::vector<std::string>& flags) const;

 private:
  std::vector<std::string> words_;
};

}  // namespace nagaya::xmp
