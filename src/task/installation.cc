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

}  // namespace

std::string installed_program(const std::string& name) {
  const fs::path object = own_object();
  // bin/ and lib/ lie one level below the prefix, lib/<multiarch>/ two.
  for (fs::path prefix = object.parent_path().parent_path(); prefix != prefix.root_path();
       prefix = prefix.parent_path()) {
    const fs::path program = prefix / "libexec" / "nagaya" / name;
    if (fs::exists(program)) return program;
  }
  throw base::Error(-ENOENT, name + " is missing from the installation of " + object.string());
}

}  // namespace nagaya::task
