// SPDX-License-Identifier: BSD-3-Clause
// installation.h - finds the other files of this installation. Their paths are relative to the
// object that this code is part of (the nagaya command or libnagaya), so that the build tree and an
// installed tree work alike and can be moved. Files that other users could have put there are
// refused (base/installed_tree.h).
#pragma once

#include <string>

namespace nagaya::task {

// Returns the path of a program in libexec/nagaya. Throws Error: -ENOENT it is not there; -EPERM
// users other than root and the installation's owner could have changed it.
std::string installed_program(const std::string& name);

// Returns the path of a folder below the installation's prefix, "" when it is not there. Throws
// Error -EPERM: users other than root and the owner could have changed it or a file in it.
std::string installed_folder(const std::string& place);

// Returns the path of a shared library. Throws Error as installed_program() does.
std::string installed_library(const std::string& name);

}  // namespace nagaya::task
