// SPDX-License-Identifier: BSD-3-Clause
#include "checks/openmp.h"

#include <cctype>

#include "diagnostics.h"

namespace nagaya::xmp {

std::vector<ClauseWord> clause_words(const PrintedText& printed, const KeptPragma& pragma) {
  const std::string& text = printed.text();
  const auto is_word = [&](size_t i) {
    return std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_';
  };
  std::vector<ClauseWord> words;
  std::string clause;
  int depth = 0;
  for (size_t at = pragma.begin; at < pragma.end;) {
    size_t end = at;
    while (end < pragma.end && is_word(end)) ++end;
    if (end == at) {
      depth += (text[at] == '(') - (text[at] == ')');
      ++at;
      continue;
    }
    const std::string word = text.substr(at, end - at);
    if (depth == 0)
      clause = word;
    else
      words.push_back({clause, word, {at, end}});
    at = end;
  }
  return words;
}

void check_openmp(const Program& program, const PrintedText& printed, const KeptPragma& pragma) {
  for (const ClauseWord& one : clause_words(printed, pragma))
    // Names in critical (name) have a name space of their own.
    if (one.clause != "shared" && one.clause != "critical" &&
        program.find_array(one.word, pragma.begin) != nullptr)
      throw Complaint{printed.place(pragma.begin),
                      "OpenMP's '" + one.clause + "' cannot name the distributed array '" +
                          one.word + "'; its block is for all threads: shared(" + one.word + ")"};
}

}  // namespace nagaya::xmp
