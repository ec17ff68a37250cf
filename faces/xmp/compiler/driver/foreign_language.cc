// SPDX-License-Identifier: BSD-3-Clause
#include "driver/foreign_language.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace nagaya::xmp {
namespace {

const std::set<std::string> kCplusplus = {".cc",  ".cp",  ".cxx", ".cpp",
                                          ".CPP", ".c++", ".C",   ".ii"};
// In lower case; the same extensions in upper case (.F90) are Fortran that is preprocessed first.
const std::set<std::string> kFortran = {".f",   ".for", ".ftn", ".fpp", ".f77",
                                        ".f90", ".f95", ".f03", ".f08"};

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Reads a line word by word and skips blanks before each.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  bool accept(std::string_view word) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool accept_name(std::string_view name) {
    const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    return accept(name) && (rest_.empty() || (!is_letter(rest_[0]) && rest_[0] != '_'));
  }

 private:
  std::string_view rest_;
};

// Whether the line is a directive: `!$xmp` behind blanks, or `c$xmp` or `*$xmp` in the first column
// of the fixed form.
bool is_directive_of_fortran(const std::string& line) {
  const std::string small = in_small_letters(line);
  const bool is_fixed = small.starts_with('c') || small.starts_with('*');
  return is_fixed ? LineReader(small.substr(1)).accept_name("$xmp")
                  : LineReader(small).accept_name("!$xmp");
}

bool is_directive_of_c(const std::string& line) {
  LineReader pragma(line);
  if (pragma.accept("#") && pragma.accept_name("pragma") && pragma.accept_name("xmp")) return true;
  for (size_t at = line.find("_Pragma"); at != std::string::npos;
       at = line.find("_Pragma", at + 1)) {
    LineReader operand(std::string_view(line).substr(at));
    if (operand.accept("_Pragma") && operand.accept("(") && operand.accept("\"") &&
        operand.accept_name("xmp"))
      return true;
  }
  return false;
}

}  // namespace

std::optional<ForeignLanguage> foreign_language(const std::string& source,
                                                const std::string& language) {
  const std::string extension = std::filesystem::path(source).extension();
  const bool by_name = language.empty() || language == "none";
  if (by_name ? kCplusplus.count(extension) != 0 : language.starts_with("c++"))
    return ForeignLanguage::kCplusplus;
  if (by_name ? kFortran.count(in_small_letters(extension)) != 0 : language.starts_with("f"))
    return ForeignLanguage::kFortran;
  return std::nullopt;
}

void refuse_directives(ForeignLanguage language, const std::string& source,
                       const std::string& text) {
  const bool is_fortran = language == ForeignLanguage::kFortran;
  std::istringstream lines(text);
  unsigned number = 1;
  for (std::string line; std::getline(lines, line); ++number)
    if (is_fortran ? is_directive_of_fortran(line) : is_directive_of_c(line))
      throw std::runtime_error(source + " is " + (is_fortran ? "Fortran" : "C++") + ", and line " +
                               std::to_string(number) +
                               " is a directive of XcalableMP: xmpcc translates C only");
}

}  // namespace nagaya::xmp
