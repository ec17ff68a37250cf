// SPDX-License-Identifier: BSD-3-Clause
// build.h - the build of this copy of Nagaya, by which a task recognises that its libnagaya and its
// host were built from different sources.
#pragma once

#include <cstddef>

namespace nagaya::task {

inline constexpr size_t kBuildBytes = 32;

// "nagaya-build:", then 16 hexadecimal digits: a hash of all files of include/ and src/
// (build.cmake).
extern const char build_text[kBuildBytes];

}  // namespace nagaya::task
