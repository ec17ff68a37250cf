// SPDX-License-Identifier: BSD-3-Clause
// reductions.h - rewrites reduction directives and the reduction clauses of loops. For a loop the
// translation declares a variable of its own for each process's part. So the value before the loop
// counts once, and the compiler can keep the part in a register, since nobody has its address. With
// location variables each assignment to the part records its iteration, because first and last are
// defined by the order of iterations, not of nodes.
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
  // In a loop: the name of the array of `loops` longs that holds the iteration that gave the value,
  // one number for each loop of the nest, outer ones first.
  std::string iteration{};
  size_t loops = 0;
};

// Returns the calls of nagaya_xmp_reduce() for a clause. `offset`: the directive's. `reduced`: the
// memory of each variable of the clause. `downwards`: the loop runs downwards, so that its first
// iterations belong to the last node.
std::string reduce_calls(const Program& program, const ReductionClause& clause, size_t offset,
                         const std::vector<Reduced>& reduced, const std::string& on,
                         const std::string& async, bool downwards = false);

// Returns the memory of each variable as the clause names it.
std::vector<Reduced> data_of_clause(const Program& program, const ReductionClause& clause,
                                    size_t offset);

class LoopReduction {
 public:
  // `which`: the clause's number among the loop's reduction clauses, from 0.
  LoopReduction(const Program& program, const ReductionClause& clause, size_t which, size_t offset,
                const Nest& nest);

  // Return C text to put around the loop, in this order: pointer_declarations; declarations;
  // { hiding_declarations; the loop; saving_assignments; } reduction_calls. Each part is written
  // for all clauses before the next part begins, so that subscripts in any clause use the
  // variables' values from before the loop.
  const std::string& pointer_declarations() const { return pointer_declarations_; }
  std::string declarations() const;
  std::string hiding_declarations() const;
  std::string saving_assignments() const;
  std::string reduction_calls(const std::string& on) const;
  // Makes each assignment to a part in the loop record its iteration. Returns the names of the
  // variables that hold the iterations.
  std::vector<std::string> record_iterations(Edits& edits) const;

 private:
  std::string own_name(const std::string& kind, size_t variable) const;
  Data by_pointer(const std::string& pointer, const std::string& count, const Data& named);

  const Program& program_;
  const ReductionClause& clause_;
  size_t which_;
  size_t offset_;
  const Nest& nest_;
  bool downwards_;
  std::vector<Reduced> named_;        // the variables of the clause as it names them
  std::vector<Reduced> own_;          // in the same order, as the translation's own variables
  std::string pointer_declarations_;  // the declarations of own variables that are pointers
};

}  // namespace nagaya::xmp
