// SPDX-License-Identifier: BSD-3-Clause
// constructs.h - checks where executable directives stand, and the statements that belong to them.
#pragma once

#include "checks/program.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// Throw Complaint.
class Constructs {
 public:
  Constructs(Program& program, const Unit& unit) : program_(program), unit_(unit) {}

  // A directive without a statement: between the statements of a block.
  void check_stand_alone(const Directive& directive, const std::string& name);
  void check(const Directive& directive, const LoopDirective& loop);
  void check(const Directive& directive, const TaskDirective& task);
  void check_tasks(const Directive& directive);
  // Into the rest of a block the jump skips no declaration or template_fix.
  void check_skipped(const Jump& jump) const;

 private:
  // The statement that begins next behind the directive; kNone: none.
  size_t next_statement(size_t offset) const;
  bool only_pragmas_between(size_t begin, size_t end) const;
  // The outermost loop and those tightly nested in it.
  std::vector<size_t> tight_loops(size_t statement) const;
  // Refuses a directive whose clauses name the index of a loop that is not tightly nested.
  void check_nesting(const Directive& directive, const LoopDirective& loop, size_t statement,
                     const std::vector<size_t>& loops) const;
  void check_canonical(const std::vector<size_t>& loops, size_t depth) const;
  void check_indexes(const LoopDirective& loop, const std::vector<size_t>& loops) const;
  std::vector<DistributedLoop> match_indexes(const LoopDirective& loop,
                                             const std::vector<size_t>& loops);
  void match_index(const LoopDirective& loop, const std::vector<size_t>& loops, size_t which,
                   std::vector<DistributedLoop>& matched);
  // The on clause is computed before the loops.
  void check_other_subscripts(const Directive& directive, const LoopDirective& loop,
                              const std::vector<size_t>& loops, const Nest& nest) const;
  void check_body(const std::vector<DistributedLoop>& loops, bool may_return) const;
  bool may_change_unseen(size_t entity, const Range& nest) const;
  void decide_hoisting(Nest& nest) const;
  // `loop_begin`: of a loop whose body the range is; kNone: the block of a task.
  void check_escapes(const Range& range, size_t loop_begin, bool may_return) const;

  Program& program_;
  const Unit& unit_;
};

}  // namespace nagaya::xmp
