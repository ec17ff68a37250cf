// SPDX-License-Identifier: BSD-3-Clause
// openmp.h - the words in the clauses of OpenMP's pragmas.
#pragma once

#include <string>
#include <vector>

#include "checks/program.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

struct ClauseWord {
  std::string clause;  // the word before the parenthesis: "shared"
  std::string word;
  Range place;
};

std::vector<ClauseWord> clause_words(const PrintedText& printed, const KeptPragma& pragma);
// Throws Complaint if a clause other than shared names a distributed array: its block is one for
// all threads of the process.
void check_openmp(const Program& program, const PrintedText& printed, const KeptPragma& pragma);

}  // namespace nagaya::xmp
