// SPDX-License-Identifier: BSD-3-Clause
// reductions.h - the calls of a reduction. One of a loop counts the value that a variable has
// before the loop once, not once for each process: it is set aside, and added to the result.
#pragma once

#include <string>

#include "checks/program.h"

namespace nagaya::xmp {

class Reducer {
 public:
  // `offset`: of the directive.
  Reducer(const Program& program, const ReductionClause& clause, size_t offset)
      : program_(program), clause_(clause), offset_(offset) {}

  std::string calls(const std::string& on, const std::string& async) const;
  std::string set_aside() const;
  std::string add_again() const;

 private:
  std::string saved_name(size_t i) const;

  const Program& program_;
  const ReductionClause& clause_;
  size_t offset_;
};

}  // namespace nagaya::xmp
