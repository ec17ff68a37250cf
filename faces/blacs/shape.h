// SPDX-License-Identifier: BSD-3-Clause
// shape.h - the items of an m x n matrix that an operation uses: all, or those of a trapezoid, as
// the BLACS and ScaLAPACK cut it.
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

  // `part` "U" means the upper trapezoid, another letter the lower one. `diagonal` "U" leaves the
  // diagonal out. Letters may be of either case.
  static Shape trapezoid(const char* part, const char* diagonal, Int m, Int n) {
    return {m, n, (*part | 0x20) == 'u' ? Kind::kUpper : Kind::kLower, (*diagonal | 0x20) != 'u'};
  }

  struct Rows {
    Int begin, end;  // none if `end` is not above `begin`
  };
  // Returns the shape's rows in a column, 0 .. n-1.
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
