// SPDX-License-Identifier: BSD-3-Clause
// constructs.h - checks where executable directives stand, and the statements that belong to them.
#pragma once

#include "checks/program.h"
#include "preprocess/unit.h"

namespace nagaya::xmp {

// All check functions throw Complaint.
class Constructs {
 public:
  Constructs(Program& program, const Unit& unit) : program_(program), unit_(unit) {}

  // Checks that a directive that has no statement of its own stands between statements of a block.
  void check_stand_alone(const Directive& directive);
  void check(const Directive& directive, const LoopDirective& loop);
  void check(const Directive& directive, const TaskDirective& task);
  // Returns the assignment that is the statement behind the directive, which may have sections.
  const Assignment& check_assignment(const Directive& directive);
  void check_tasks(const Directive& directive);
  // Checks that the jump does not enter a block behind a declarative directive or template_fix that
  // it would skip.
  void check_skipped(const Jump& jump) const;

 private:
  void check_in_function(const Directive& directive) const;
  // Returns the statement that begins next behind the directive at `offset`; kNone: there is none.
  size_t next_statement(size_t offset) const;
  // Refuses a directive between this one and its statement. A task may be followed by one of its
  // statement.
  void check_between(const Directive& directive, size_t statement) const;
  bool only_pragmas_between(size_t begin, size_t end) const;
  // Returns the loop at `statement` and the loops tightly nested in it, outer ones first.
  std::vector<size_t> tight_loops(size_t statement) const;
  // Refuses a directive whose clauses name the index of a loop that is not tightly nested.
  void check_nesting(const Directive& directive, const LoopDirective& loop, size_t statement,
                     const std::vector<size_t>& loops) const;
  bool is_index_of(const std::vector<size_t>& loops, const std::string& name) const;
  void check_canonical(const std::vector<size_t>& loops, size_t depth) const;
  void check_indexes(const LoopDirective& loop, const std::vector<size_t>& loops) const;
  std::vector<DistributedLoop> match_indexes(const LoopDirective& loop,
                                             const std::vector<size_t>& loops);
  void match_index(const LoopDirective& loop, const std::vector<size_t>& loops, size_t which,
                   std::vector<DistributedLoop>& matched);
  // Checks the subscripts of the on clause that are no loop's index: the translation computes them
  // once, before the loops.
  void check_other_subscripts(const Directive& directive, const LoopDirective& loop,
                              const std::vector<size_t>& loops, const Nest& nest) const;
  void check_body(const std::vector<DistributedLoop>& loops, bool may_return) const;
  // Checks the clause expand, margin or peel_and_wait.
  void check_expansion(const Directive& directive, const LoopDirective& loop,
                       const Nest& nest) const;
  bool may_change_unseen(size_t entity, const Range& nest) const;
  void decide_hoisting(Nest& nest) const;
  // Checks that no jump leaves `range`. `loop_begin`: offset of the loop whose body the range is;
  // kNone: the range is the block of a task.
  void check_escapes(const Range& range, size_t loop_begin, bool may_return) const;

  Program& program_;
  const Unit& unit_;
};

}  // namespace nagaya::xmp
