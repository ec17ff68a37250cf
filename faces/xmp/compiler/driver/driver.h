// SPDX-License-Identifier: BSD-3-Clause
// driver.h - does all that a command line asks for.
#pragma once

#include "driver/command_line.h"

namespace nagaya::xmp {

// The exit status, as a C compiler's.
int drive(const CommandLine& line);

}  // namespace nagaya::xmp
