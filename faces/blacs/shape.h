// SPDX-License-Identifier: BSD-3-Clause
// shape.h - which items of m rows and n columns are meant: all, or those of a trapezoid, as the
// BLACS and ScaLAPACK cut it.
//
//            m > n      m < n
//   upper    x x        x x x
//            x x          x x
//              x
//
//   lower    x          x x
//            x x        x x x
//            x x
#pragma once

#include <algorithm>

#include "faces/blacs/system.h"

namespace nagaya::blacs {

struct Shape {
  enum class Kind { kRectangle, kUpper, kLower };

  Int m, n;
  Kind kind = Kind::kRectangle;
  bool has_diagonal = true;

  // `part` U: the upper one, else the lower. `diagonal` U: without it. In either case.
  static Shape trapezoid(const char* part, const char* diagonal, Int m, Int n) {
    return {m, n, (*part | 0x20) == 'u' ? Kind::kUpper : Kind::kLower, (*diagonal | 0x20) != 'u'};
  }

  struct Rows {
    Int begin, end;  // none if `end` is not above `begin`
  };
  // In that column, which is one of the n.
  Rows rows_of(Int column) const {
    if (kind == Kind::kRectangle) return {0, m};
    const bool is_upper = kind == Kind::kUpper;
    // The row of the diagonal, perhaps outside of the matrix.
    const Int diagonal = column + (is_upper ? std::max(m - n, 0) : std::min(m - n, 0));
    if (is_upper) return {0, std::min(diagonal + (has_diagonal ? 1 : 0), m)};
    return {std::max(diagonal + (has_diagonal ? 0 : 1), 0), m};
  }
};

}  // namespace nagaya::blacs
