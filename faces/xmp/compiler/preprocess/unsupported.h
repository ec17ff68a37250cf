// SPDX-License-Identifier: BSD-3-Clause
// unsupported.h - finds parts of XcalableMP/C that xmpcc does not support: coarrays (`x:[k]`),
// array sections (`a[b:l]`), library functions. It is given the tokens of a unit one by one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "diagnostics.h"
#include "place.h"

namespace nagaya::xmp {

class UnsupportedSyntax {
 public:
  // Takes the unit's next token.
  void see(const std::string& token, const Place& place);
  // Takes the name of an XMP directive that stands here. Sections in the statement behind gmove or
  // array are not reported: the directive itself is.
  void see_directive(const std::string& name);
  // Returns one complaint for each kind, at its first place. Functions that the unit defines itself
  // are left out.
  std::vector<Complaint> found() const;
  // Whether coarrays, sections or types were found: names of functions alone are valid C.
  bool has_syntax() const { return !complaints_.empty(); }

 private:
  struct Bracket {
    std::string open;
    int questions = 0;            // `?` of conditional expressions whose `:` has not come yet
    bool ignores_colons = false;  // its colons are no sections: attributes [[...]], operands of asm
  };

  void see_colon(const Place& place);
  void see_name(const std::string& name, const Place& place);
  void see_bracket(const std::string& open);
  void complain(const Place& place, const std::string& text);
  bool in_asm() const;

  std::vector<Bracket> open_;
  std::string previous_;
  Place colon_;                    // place of the last colon
  bool may_be_coarray_ = false;    // the last two tokens are `:[`
  bool is_asm_next_ = false;       // the next parenthesis opens the operands of asm
  bool ignores_sections_ = false;  // sections up to the next `;` belong to something reported
  std::vector<Complaint> complaints_;
  std::set<std::string> texts_;  // the texts of complaints_, each once
  struct Name {
    std::string name;
    Place place;
  };
  std::vector<Name> names_;        // functions that are used
  std::string declared_;           // the function whose declaration is being read
  std::set<std::string> defined_;  // functions with a body in this unit
};

}  // namespace nagaya::xmp
