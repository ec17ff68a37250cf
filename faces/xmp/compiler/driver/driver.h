// SPDX-License-Identifier: BSD-3-Clause
// driver.h - does all that a command line asks for.
#pragma once

#include "driver/command_line.h"

namespace nagaya::xmp {

// Compiles and links as the command line asks. Returns xmpcc's exit status, 0 for success.
int drive(const CommandLine& line);

}  // namespace nagaya::xmp
