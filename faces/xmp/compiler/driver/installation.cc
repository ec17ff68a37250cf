// SPDX-License-Identifier: BSD-3-Clause
#include "driver/installation.h"

#include <filesystem>

namespace nagaya::xmp {
namespace {

namespace fs = std::filesystem;

// The folder that holds `file`, in one of the places below a prefix above xmpcc.
std::string folder_of(const std::string& file, std::initializer_list<const char*> places) {
  std::error_code ignored;
  const fs::path own = fs::canonical("/proc/self/exe", ignored);
  for (fs::path prefix = own.parent_path(); prefix != prefix.root_path();
       prefix = prefix.parent_path())
    for (const char* place : places)
      if (fs::exists(prefix / place / file, ignored)) return prefix / place;
  return "";
}

}  // namespace

std::string include_folder() {
  return folder_of("xmp.h", {"include/xmp"});
}

std::string library_folder() {
  return folder_of("libnagaya-xmp.so", {"lib", NAGAYA_LIBRARY_FOLDER, "lib64"});
}

}  // namespace nagaya::xmp
