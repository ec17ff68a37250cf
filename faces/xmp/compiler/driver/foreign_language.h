// SPDX-License-Identifier: BSD-3-Clause
// foreign_language.h - sources in C++ and Fortran. Their compilers ignore XcalableMP's directives,
// so each process would run the whole program; xmpcc refuses such sources.
#pragma once

#include <optional>
#include <string>

namespace nagaya::xmp {

enum class ForeignLanguage { kCplusplus, kFortran };

// Returns the source's language, by `language` (the argument of -x) or, if that is empty, by the
// file's name; nullopt: C, or no source.
std::optional<ForeignLanguage> foreign_language(const std::string& source,
                                                const std::string& language);

// Throws std::runtime_error with the source's name if `text` has an XcalableMP directive.
void refuse_directives(ForeignLanguage language, const std::string& source,
                       const std::string& text);

}  // namespace nagaya::xmp
