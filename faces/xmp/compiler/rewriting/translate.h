// SPDX-License-Identifier: BSD-3-Clause
// translate.h - writes the translation of a checked unit: plain C that calls the runtime.
#pragma once

#include <string>

#include "checks/program.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// Returns the translation's text. `source`: the file name that debuggers show. `checked`: the
// program tests each access to a distributed array.
std::string translate(const Unit& unit, const Program& program, const std::string& source,
                      bool checked);

}  // namespace nagaya::xmp
