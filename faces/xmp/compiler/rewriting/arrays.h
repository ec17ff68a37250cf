// SPDX-License-Identifier: BSD-3-Clause
// arrays.h - distributed arrays in the translation: their declarations and the accesses to them.
//
// The user's index stays global. Where `double u[N][M]` has its first dimension distributed:
//
// In a cyclic dimension the subscript is the index's place:
// xmp_rows_u[nagaya_xmp_place(xmp_cycle0_u, (i)) - xmp_first0_u], or inside of a loop over the
// dimension cheaper (cyclic_loops.h).
//
//   double (*xmp_type_u(void))[N][M];      a name of its type, for sizeof
//   nagaya_xmp_array xmp_block_u;
//   f() { const long xmp_first0_u = xmp_block_u.first[0];
//         double (*const xmp_rows_u)[M] = (void *)xmp_block_u.base;
//         ... xmp_rows_u[(i) - xmp_first0_u][j] ... }
//
// If a called function may still make the block (template_fix), each access reads the descriptor
// instead.
#pragma once

#include <string>
#include <vector>

#include "checks/program.h"
#include "rewriting/cyclic_loops.h"
#include "rewriting/edits.h"

namespace nagaya::xmp {

// Returns the C text of the element's type, in a form that fits before a declarator.
std::string element_type(const ArraySymbol& array);
// Returns the C text that makes the array's block: nagaya_xmp_declare_array(...);
std::string declare_array_call(const ArraySymbol& array);
// Returns the declaration of the array's descriptor. At file scope it does not make the block: the
// program does when it begins.
std::string descriptor_declaration(const ArraySymbol& array);
// Returns the declarations of the hoisted pointer, offsets and extents, which accesses in the rest
// of the scope use.
std::string hoisted(const ArraySymbol& array);

// Returns the names of the variables that hoisted() declares.
std::vector<std::string> hoisted_names(const ArraySymbol& array);

class ArrayRewriter {
 public:
  // `checked`: the translation passes subscripts through nagaya_xmp_checked().
  ArrayRewriter(const PrintedText& printed, const Program& program, Edits& edits,
                const CyclicLoops& loops, bool checked)
      : printed_(printed), program_(program), edits_(edits), loops_(loops), checked_(checked) {}
  void rewrite_declarations();
  void rewrite_uses();
  // Inserts hoisted() of file-scope arrays at the beginning of each function that uses them.
  void hoist_file_arrays();
  // Returns hoisted() of all arrays whose blocks a template_fix makes; it belongs behind the `fix`.
  std::string hoisted_by(const Directive& fix) const;

 private:
  void rewrite(const Use& use, const ArraySymbol& array);
  void rewrite_free(const Use& use);
  void rewrite_subscript(const Use& use, const ArraySymbol& array, const std::string& rows,
                         size_t d, bool may_be_fixed_elsewhere);

  const PrintedText& printed_;
  const Program& program_;
  Edits& edits_;
  const CyclicLoops& loops_;
  const bool checked_;
};

}  // namespace nagaya::xmp
