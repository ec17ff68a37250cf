// SPDX-License-Identifier: BSD-3-Clause
// installation.h - where the other files of this installation are. They are found relative to
// the object that this code is part of (the nagaya command or libnagaya), so that the build tree
// and an installed tree work alike and can be moved. Files that others could have put there are
// refused (base/installed_tree.h).
#pragma once

#include <string>

namespace nagaya::task {

// The path of a program in libexec/nagaya. Throws Error: -ENOENT it is not there; -EPERM others
// than root and the installation's owner could have changed it.
std::string installed_program(const std::string& name);

// The path of a folder below the installation's prefix, "" when it is not there. Throws Error
// -EPERM: others could have changed it or something in it.
std::string installed_folder(const std::string& place);

}  // namespace nagaya::task
