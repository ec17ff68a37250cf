// SPDX-License-Identifier: BSD-3-Clause
// installation.h - where the other files of this installation are. They are found relative to
// the object that this code is part of (the nagaya command or libnagaya), so that the build tree
// and an installed tree work alike and can be moved.
#pragma once

#include <string>

namespace nagaya::task {

// The path of a program in libexec/nagaya. Throws Error -ENOENT when it is not there.
std::string installed_program(const std::string& name);

// The path of a folder below the installation's prefix, "" when it is not there.
std::string installed_folder(const std::string& place);

}  // namespace nagaya::task
