// SPDX-License-Identifier: BSD-3-Clause
#include "task/installation.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"

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

// Below the installation's prefix; empty when it is not there.
fs::path installed(const fs::path& place) {
  const fs::path object = own_object();
  // bin/ and lib/ lie one level below the prefix, lib/<multiarch>/ two.
  for (fs::path prefix = object.parent_path().parent_path(); prefix != prefix.root_path();
       prefix = prefix.parent_path())
    if (fs::exists(prefix / place)) return prefix / place;
  return {};
}

}  // namespace

std::string installed_program(const std::string& name) {
  const fs::path program = installed(fs::path("libexec") / "nagaya" / name);
  if (!program.empty()) return program;
  throw base::Error(-ENOENT,
                    name + " is missing from the installation of " + own_object().string());
}

std::string installed_folder(const std::string& place) {
  return installed(place);
}

}  // namespace nagaya::task
