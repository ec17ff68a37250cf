// SPDX-License-Identifier: BSD-3-Clause
// coarrays.h - coarrays in the translation. A coarray stays the program's variable. A reference to
// another image becomes a load or a store where that image has it, or, where the image is on
// another machine, a get or a put:
//
//   x:[k] = e   ->   ({ long xmp_k0;
//                       __auto_type xmp_p0 = &(*({ __auto_type xmp_a0 = &x; xmp_k0 = (k); xmp_a0;
//                       }));
//                       __typeof__(*xmp_p0) xmp_v0 = (e);
//                       __typeof__(*xmp_p0)* xmp_q0 = nagaya_xmp_behind(xmp_p0,
//                       nagaya_xmp_offset(&xmp_coarray_x, xmp_k0));
//                       if (xmp_q0 != 0) *xmp_q0 = xmp_v0; else { ... nagaya_xmp_put(...); }
//                       xmp_v0;
//                       })
//
// In a loop in which the image does not change, the offset is a variable (hoisted_offsets.h).
// Each part of the text is written once, where the user has it: it may have references of its own.
#pragma once

#include <string>

#include "checks/program.h"
#include "preprocess/unit.h"
#include "rewriting/edits.h"
#include "rewriting/hoisted_offsets.h"

namespace nagaya::xmp {

class CoarrayRewriter {
 public:
  CoarrayRewriter(const Unit& unit, const Program& program, Edits& edits,
                  const HoistedOffsets& offsets)
      : unit_(unit), program_(program), edits_(edits), offsets_(offsets) {}

  // Returns the declarations of the descriptors, which come first in the translation.
  std::string descriptors() const;
  // Returns the statements that declare the coarrays, when the program begins.
  std::string registration() const;
  void rewrite_references();
  // Rewrites a directive of the local view; does nothing for another one.
  void rewrite(const Directive& directive);

 private:
  void rewrite(const Directive&, const auto&) {}
  void rewrite(const Directive& directive, const ImageDirective& image);
  void rewrite(const Directive& directive, const PostDirective& post);
  void rewrite(const Directive& directive, const WaitDirective& wait);
  void rewrite(const Directive& directive, const LockDirective& lock);

  void insert(const Directive& directive, const std::string& text);
  void rewrite_image(const Coindex& coindex, const CoarraySymbol& coarray, const std::string& n);
  void rewrite_use(const CoindexUse& use);
  void rewrite_sections(const SectionAssignment& sections, const std::string& n);
  // Writes the sections of a variable's subscripts so that they fill the nagaya_xmp_part of this
  // name.
  void rewrite_subscripts(const Use& use, const std::string& part);
  void rewrite_atomic(const AtomicCall& call, size_t number);

  const Unit& unit_;
  const Program& program_;
  Edits& edits_;
  const HoistedOffsets& offsets_;
};

}  // namespace nagaya::xmp
