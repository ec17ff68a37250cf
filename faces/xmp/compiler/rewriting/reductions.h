// SPDX-License-Identifier: BSD-3-Clause
// reductions.h - reductions, alone and of a loop. That of a loop has a variable of its own for each
// process's part, so that the value before the loop counts once, and so that the loop works on a
// variable whose address nobody has: the compiler keeps it in a register. With location variables
// each assignment to it notes its iteration, for first and last are the loop's, not the nodes'.
#pragma once

#include <string>
#include <vector>

#include "checks/program.h"
#include "rewriting/data.h"
#include "rewriting/edits.h"

namespace nagaya::xmp {

// The memory of a variable of a clause, and of its location variables.
struct Reduced {
  Data data;
  std::vector<Data> locations;
  // Of a loop: its iteration that gave the value, a number of each loop in that array.
  std::string iteration{};
  size_t loops = 0;
};

// `offset`: of the directive. `reduced`: each variable of the clause. `downwards`: a loop meets the
// last node's part first.
std::string reduce_calls(const Program& program, const ReductionClause& clause, size_t offset,
                         const std::vector<Reduced>& reduced, const std::string& on,
                         const std::string& async, bool downwards = false);

// As the clause names them.
std::vector<Reduced> reduced_by(const Program& program, const ReductionClause& clause,
                                size_t offset);

class LoopReduction {
 public:
  // `which`: of the loop's clauses, from 0.
  LoopReduction(const Program& program, const ReductionClause& clause, size_t which, size_t offset,
                const Nest& nest);

  // C text around the loop, which of several clauses comes part by part: pointers; declarations;
  // { hiding; the loop; kept; } reduced. So a subscript of any clause means the variables, and
  // their values, from before the loop.
  const std::string& pointers() const { return pointers_; }
  std::string declarations() const;
  std::string hiding() const;
  std::string kept() const;
  std::string reduced(const std::string& on) const;
  // In the loop. Returns the variables that it does so in.
  std::vector<std::string> note_iterations(Edits& edits) const;

 private:
  std::string own_name(const std::string& kind, size_t variable) const;
  Data by_pointer(const std::string& pointer, const std::string& count, const Data& named);

  const Program& program_;
  const ReductionClause& clause_;
  size_t which_;
  size_t offset_;
  const Nest& nest_;
  bool downwards_;
  std::vector<Reduced> named_;  // the variables of the clause as it names them
  std::vector<Reduced> own_;    // ... each by a variable of the translation
  std::string pointers_;        // the declarations of those that are pointers
};

}  // namespace nagaya::xmp
