// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/openmp.h"

#include <algorithm>
#include <set>

#include "checks/openmp.h"
#include "rewriting/arrays.h"
#include "rewriting/c_text.h"

namespace nagaya::xmp {
namespace {

// Returns the variables through which the function around `offset` accesses the array.
std::vector<std::string> names_of(const Program& program, const ArraySymbol& array, size_t offset) {
  if (program.may_be_fixed_elsewhere(array, *program.facts.function_at(offset)))
    return {array.c_name()};
  return hoisted_names(array);
}

// Returns the variables of all arrays that the statement uses, but for the arrays in `named`, and
// of the coarrays that it uses.
std::set<std::string> hoisted_in(const Program& program, const Range& statement,
                                 const std::vector<const ArraySymbol*>& named) {
  std::set<std::string> names;
  for (const ArraySymbol& array : program.arrays)
    if (std::ranges::count(named, &array) == 0 && program.uses_array(statement, array)) {
      const std::vector<std::string> own = names_of(program, array, statement.begin);
      names.insert(own.begin(), own.end());
    }
  for (const CoindexUse& use : program.facts.coindex_uses)
    if (use.kind != CoindexUse::kUnevaluated && statement.contains(use.whole))
      names.insert(program.coindexed.at(use.coindex)->c_name());
  return names;
}

}  // namespace

void rewrite_openmp(const Unit& unit, const Program& program,
                    const std::map<size_t, std::vector<std::string>>& variables, Edits& edits) {
  for (const KeptPragma& pragma : unit.pragmas) {
    if (!pragma.openmp || program.facts.function_at(pragma.begin) == nullptr) continue;
    bool none = false;
    std::vector<const ArraySymbol*> named;
    for (const auto& [clause, word, place] : clause_words(unit.printed, pragma)) {
      none = none || (clause == "default" && word == "none");
      const ArraySymbol* array =
          clause == "shared" ? program.find_array(word, pragma.begin) : nullptr;
      if (array == nullptr) continue;
      edits.replace(place, list(names_of(program, *array, pragma.begin)));
      named.push_back(array);
    }
    if (!none) continue;
    // default(none) requires a clause for the translation's own variables, too.
    const std::vector<Statement>& statements = program.facts.statements;
    const size_t statement = program.facts.statement_behind(pragma.end);
    if (statement == kNone) continue;
    std::set<std::string> names = hoisted_in(program, statements[statement].range, named);
    for (const auto& [user, own] : variables)
      if (statements[user].range.contains(statements[statement].range))
        names.insert(own.begin(), own.end());
    if (!names.empty())
      edits.insert(pragma.end - 1, " shared(" + list({names.begin(), names.end()}) + ")");
  }
}

}  // namespace nagaya::xmp
