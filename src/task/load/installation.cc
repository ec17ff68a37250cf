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

}  // namespace

std::string installed_program(const std::string& name) {
  const std::string program = own_tree().find(fs::path("libexec") / "nagaya" / name);
  if (!program.empty()) return program;
  throw base::Error(-ENOENT,
                    name + " is missing from the installation of " + own_object().string());
}

std::string installed_folder(const std::string& place) {
  return own_tree().find_all(place);
}

}  // namespace nagaya::task
