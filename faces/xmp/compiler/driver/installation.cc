// SPDX-License-Identifier: BSD-3-Clause
#include "driver/installation.h"

#include <filesystem>

#include "base/installed_tree.h"

namespace nagaya::xmp {
namespace {

namespace fs = std::filesystem;

// Returns the first of these places, below xmpcc's prefix, that holds `file`; empty: none does.
std::string folder_of(const std::string& file, std::initializer_list<const char*> places) {
  const base::InstalledTree tree(fs::canonical("/proc/self/exe"), {"bin"});
  for (const char* place : places)
    if (const fs::path found = tree.find(fs::path(place) / file); !found.empty())
      return found.parent_path();
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
