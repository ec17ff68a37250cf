// SPDX-License-Identifier: BSD-3-Clause
// foreign_language.h - sources in languages other than C, whose compilers take XcalableMP's
// directives for comments: each process would then be the whole program.
#pragma once

#include <optional>
#include <string>

namespace nagaya::xmp {

enum class ForeignLanguage { kCplusplus, kFortran };

// By the language of a -x, or by the name of the source; nullopt: C, or not for a compiler.
std::optional<ForeignLanguage> foreign_language(const std::string& source,
                                                const std::string& language);

// Throws std::runtime_error, with the source's name, if its text has a directive.
void refuse_directives(ForeignLanguage language, const std::string& source,
                       const std::string& text);

}  // namespace nagaya::xmp
