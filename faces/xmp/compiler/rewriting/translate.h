// SPDX-License-Identifier: BSD-3-Clause
// translate.h - writes the translation of a checked unit: plain C that calls the runtime.
#pragma once

#include <string>

#include "checks/program.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// `source` is the name that debuggers show.
std::string translate(const Unit& unit, const Program& program, const std::string& source);

}  // namespace nagaya::xmp
