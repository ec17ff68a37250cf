// SPDX-License-Identifier: BSD-3-Clause
// hoisted_offsets.h - chooses the loops before which the translation finds an image of a coarray. A
// coarray does not move, and the executing nodes change in a task only. So where the image is the
// same in all of a loop, it is found once:
//
//   { const long xmp_offset0 = nagaya_xmp_offset(&xmp_coarray_x, k);
//     for (int i = 0; i < n; i++) x[i]:[k] = e; }         // stores at &x[i] + xmp_offset0
//
// Then the loop loads nothing for the access, and the compiler behind can vectorise it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "checks/program.h"
#include "preprocess/unit.h"
#include "rewriting/edits.h"

namespace nagaya::xmp {

class HoistedOffsets {
 public:
  HoistedOffsets(const Unit& unit, const Program& program) : unit_(unit), program_(program) {}

  // Inserts the variables, behind what was inserted before the loops so far. Adds their names to
  // those that each statement (index in Facts::statements) uses.
  void declare(Edits& edits, std::map<size_t, std::vector<std::string>>& variables);
  // Returns the C text of the offset of a coindex. `image`: C text of its image.
  std::string offset_of(size_t coindex, const std::string& image) const;

 private:
  // Returns the outermost loop (index in Facts::loops) around the use, in all of which its image is
  // the same; kNone: there is none.
  size_t loop_with_one_image(const CoindexUse& use) const;
  bool may_stand_before(const Range& loop, const CoindexUse& use) const;
  bool has_task(const Range& loop, const Range& use) const;
  bool is_entered_by_jump(const Range& loop) const;
  bool is_in_openmp_nest(const Range& loop) const;
  bool is_the_same_in(const Range& loop, const Range& expression) const;
  bool keeps_value(const Variable& variable, const Range& loop) const;

  const Unit& unit_;
  const Program& program_;
  std::set<size_t> hoisted_;  // the coindexes that have a variable
};

}  // namespace nagaya::xmp
