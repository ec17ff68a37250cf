// SPDX-License-Identifier: BSD-3-Clause
// installation.h - where xmp.h and the runtime library are, relative to xmpcc itself: the build
// tree and an installed tree work alike and can be moved.
#pragma once

#include <string>

namespace nagaya::xmp {

// Return the folder's path; empty: it does not exist.
std::string include_folder();  // has xmp.h
std::string library_folder();  // has libnagaya-xmp.so

}  // namespace nagaya::xmp
