// SPDX-License-Identifier: BSD-3-Clause
// statements.h - rewrites executable directives to calls of the runtime.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "checks/program.h"
#include "preprocess/unit.h"
#include "rewriting/cyclic_loops.h"
#include "rewriting/edits.h"

namespace nagaya::xmp {

class StatementRewriter {
 public:
  StatementRewriter(const Unit& unit, const Program& program, Edits& edits, CyclicLoops& cyclic)
      : unit_(unit), program_(program), edits_(edits), cyclic_(cyclic) {}

  // Rewrites an executable directive; does nothing for a declarative one.
  void rewrite(const Directive& directive);
  // For each statement (index in Facts::statements), the names that the translation declares around
  // it and uses in it: bounds, recorded iterations.
  const std::map<size_t, std::vector<std::string>>& variables() const { return variables_; }

 private:
  void rewrite(const Directive&, const auto&) {}
  void rewrite(const Directive& directive, const TemplateFixDirective& fix);
  void rewrite(const Directive& directive, const LoopDirective& loop);
  void rewrite(const Directive& directive, const ReflectDirective& reflect);
  void rewrite(const Directive& directive, const ReduceShadowDirective& reduce);
  void rewrite(const Directive& directive, const WaitAsyncDirective& wait);
  void rewrite(const Directive& directive, const BarrierDirective& barrier);
  void rewrite(const Directive& directive, const BcastDirective& bcast);
  void rewrite(const Directive& directive, const ReductionDirective& reduction);
  void rewrite(const Directive& directive, const TaskDirective& task);
  void rewrite(const Directive& directive, const GmoveDirective& gmove);

  void insert(const Directive& directive, const std::string& text);
  // Returns the declaration of the caller's part of a loop's range; with `expansion` the one of
  // NAME_expanded. `needed`: C text of a
  // condition; while it is false the range is empty. Empty text: no condition.
  std::string range_declaration(const Directive& directive, const DistributedLoop& distributed,
                                const std::string& on, const std::string& needed,
                                const std::string& name, const ExpandWidth* expansion,
                                bool is_cyclic);
  // Returns the statement that gives the runs of a cyclic loop their width, if that is a constant:
  // so the compiler behind knows how long a run can be. Empty text: it is none.
  std::string constant_width(const Directive& directive, const DistributedLoop& distributed,
                             const std::string& rounds) const;
  // Inserts a call of `function` for each array of a directive for shadows. `with_type`: the calls
  // name the type of the elements.
  void rewrite_shadows(const Directive& directive, const ReflectDirective& shadows,
                       const std::string& function, bool with_type);
  void rewrite_header(size_t which, const std::string& name);
  // Appends the reductions' text before the loop to `before`, and returns their text behind it.
  std::string add_reductions(const Directive& directive, const LoopDirective& loop,
                             const Nest& nest, const std::string& on, std::string& before);

  const Unit& unit_;
  const Program& program_;
  Edits& edits_;
  CyclicLoops& cyclic_;
  std::map<size_t, std::vector<std::string>> variables_;
  int ranges_ = 0, ons_ = 0, spaces_ = 0;
};

}  // namespace nagaya::xmp
