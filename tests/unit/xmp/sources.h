// SPDX-License-Identifier: BSD-3-Clause
// sources.h - preprocesses sources that are written in a test.
#pragma once

#include <string>

#include "preprocess/preprocess.h"

namespace nagaya::xmp {

inline PreprocessorInput input_of(const std::string& contents) {
  return {"test.c", "gnu17", {}, {"", {}, "x86_64-linux-gnu"}, &contents};
}

}  // namespace nagaya::xmp
