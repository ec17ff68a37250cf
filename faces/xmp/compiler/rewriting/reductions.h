// SPDX-License-Identifier: BSD-3-Clause
// reductions.h - reductions, alone and of a loop. That of a loop has a variable of its own for each
// process's part, so that the value before the loop counts once, and so that the loop works on a
// variable whose address nobody has: the compiler keeps it in a register.
#pragma once

#include <map>
#include <string>

#include "checks/program.h"

namespace nagaya::xmp {

// `offset`: of the directive. `parts`: variables that stand for others. `downwards`: a loop meets
// the last node's part first.
std::string reduce_calls(const Program& program, const ReductionClause& clause, size_t offset,
                         const std::string& on, const std::string& async,
                         const std::map<std::string, std::string>& parts = {},
                         bool downwards = false);

class LoopReduction {
 public:
  LoopReduction(const Program& program, const ReductionClause& clause, size_t offset,
                const Nest& nest);

  // C text that opens a block around the loop, and the text that closes it and reduces.
  std::string before() const;
  std::string after(const std::string& on) const;

 private:
  bool is_only_named(const Variable& variable, const Range& nest) const;

  const Program& program_;
  const ReductionClause& clause_;
  size_t offset_;
  bool downwards_;
  std::map<std::string, std::string> parts_;  // by the variable's name
};

}  // namespace nagaya::xmp
