// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/installation.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"
#include "base/installed_tree.h"

namespace nagaya::task {
namespace {

namespace fs = std::filesystem;

fs::path own_object() {
  Dl_info info{};
  static const char anchor = 0;
  if (::dladdr(&anchor, &info) != 0 && info.dli_fname != nullptr &&
      fs::path(info.dli_fname).filename().string().find(".so") != std::string::npos)
    return fs::canonical(info.dli_fname);
  return fs::canonical("/proc/self/exe");
}

// Returns the tree around this code, and the places where the code may lie in it. In a build tree,
// which has the same layout, test programs contain the code, too.
base::InstalledTree own_tree() {
  return {own_object(),
          {"bin", "lib", NAGAYA_LIBRARY_FOLDER, "libexec/nagaya", "libexec/nagaya/bench",
           "tests/unit", "tests/fuzz", "tests/programs"}};
}

[[noreturn]] void throw_missing(const std::string& name) {
  throw base::Error(-ENOENT,
                    name + " is missing from the installation of " + own_object().string());
}

}  // namespace

std::string installed_program(const std::string& name) {
  const std::string program = own_tree().find(fs::path("libexec") / "nagaya" / name);
  if (program.empty()) throw_missing(name);
  return program;
}

std::string installed_library(const std::string& name) {
  for (const char* const folder : {NAGAYA_LIBRARY_FOLDER, "lib"})  // the latter: in a build tree
    if (const std::string library = own_tree().find(fs::path(folder) / name); !library.empty())
      return library;
  throw_missing(name);
}

std::string installed_folder(const std::string& place) {
  return own_tree().find_all(place);
}

}  // namespace nagaya::task
