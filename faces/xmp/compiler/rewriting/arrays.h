// SPDX-License-Identifier: BSD-3-Clause
// arrays.h - distributed arrays in the translation: their declarations and the accesses to them.
//
// The user's index stays global. Where `double u[N][M]` has its first dimension distributed:
//
//   double (*xmp_type_u(void))[N][M];      a name of its type, for sizeof
//   nagaya_xmp_array xmp_block_u;
//   f() { const long xmp_first0_u = xmp_block_u.first[0];
//         double (*const xmp_rows_u)[M] = (void *)xmp_block_u.base;
//         ... xmp_rows_u[(i) - xmp_first0_u][j] ... }
//
// Where a function that is called may still make the block (template_fix), each access reads the
// descriptor instead.
#pragma once

#include <string>
#include <vector>

#include "checks/program.h"
#include "rewriting/edits.h"

namespace nagaya::xmp {

// A type that fits before a declarator.
std::string element_type(const ArraySymbol& array);
// The C text that makes the array's block: nagaya_xmp_declare_array(...);
std::string declare_array_call(const ArraySymbol& array);
// Its descriptor; of one at file scope without the block, which is made at the beginning.
std::string descriptor_declaration(const ArraySymbol& array);
// Pointer and offsets, for the accesses in the rest of the scope.
std::string hoisted(const ArraySymbol& array);

// The names of the variables that it declares.
std::vector<std::string> hoisted_names(const ArraySymbol& array);

class ArrayRewriter {
 public:
  // `checked`: subscripts go through nagaya_xmp_checked().
  ArrayRewriter(const PrintedText& printed, const Program& program, Edits& edits, bool checked)
      : printed_(printed), program_(program), edits_(edits), checked_(checked) {}
  void rewrite_declarations();
  void rewrite_uses();
  // At the beginning of each function that uses an array of file scope.
  void hoist_file_arrays();
  // Behind a template_fix: those of all arrays that it makes.
  std::string hoisted_by(const Directive& fix) const;

 private:
  void rewrite(const Use& use, const ArraySymbol& array);
  // C text before and behind a subscript.
  std::string before_subscript(const Use& use, const std::string& rows, size_t d) const;
  std::string behind_subscript(const ArraySymbol& array, size_t d, bool is_fixed_elsewhere) const;
  bool uses(const Function& function, const ArraySymbol& array) const;

  const PrintedText& printed_;
  const Program& program_;
  Edits& edits_;
  const bool checked_;
};

}  // namespace nagaya::xmp
