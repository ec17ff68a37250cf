// SPDX-License-Identifier: BSD-3-Clause
// cyclic_loops.h - distributed loops along cyclic dimensions. They run over the runs of the
// process:
//
//   for (long xmp_loop1_n = xmp_loop1_rounds.first; ...; xmp_loop1_n++) {       cyclic: a run has
//     int i = xmp_loop1_rounds.low + xmp_loop1_n * xmp_loop1_rounds.round;      one index
//     ... u_[xmp_loop1_n - xmp_first0_u] ... }
//
//   for (long xmp_loop1_n = ...; ...; xmp_loop1_n++) {                          cyclic(width)
//     const nagaya_xmp_range xmp_loop1_run = nagaya_xmp_run(...);
//     const long xmp_loop1_behind = ...;           // index minus place, the same in all of the run
//     for (int i = xmp_loop1_run.first; i < xmp_loop1_run.end; i++)
//       ... u_[(i) - xmp_loop1_behind - xmp_first0_u] ... }
//
// So an element aligned with the loop's index needs no division. The index keeps its meaning.
#pragma once

#include <string>
#include <vector>

#include "checks/program.h"
#include "rewriting/edits.h"

namespace nagaya::xmp {

class CyclicLoops {
 public:
  CyclicLoops(const PrintedText& printed, const Program& program)
      : printed_(printed), program_(program) {}

  // Whether the loop runs along a cyclic dimension of the template of its on clause.
  bool is_cyclic(const Reference& on, const DistributedLoop& loop) const;
  // Rewrites a loop's header and body. `name`: prefix of its variables; NAME_rounds has its runs.
  void rewrite(const Reference& on, const DistributedLoop& loop, const std::string& name,
               Edits& edits);
  // Returns the C text of the place of a subscript that is the index of a loop around it, moved as
  // the array is aligned; empty: the subscript is no such.
  std::string place_of(const ArraySymbol& array, size_t d, const Range& subscript) const;

 private:
  struct Rewritten {
    const TemplateSymbol* of;
    DistributedLoop loop;
    std::string name;
    bool has_width;
  };

  // Returns the constant that the subscript adds to the loop's index; nullopt: it is no such sum.
  std::optional<long> moved_by(const Range& subscript, const Loop& loop) const;

  const PrintedText& printed_;
  const Program& program_;
  std::vector<Rewritten> rewritten_;
};

}  // namespace nagaya::xmp
