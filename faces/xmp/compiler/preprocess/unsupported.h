// SPDX-License-Identifier: BSD-3-Clause
// unsupported.h - finds parts of XcalableMP/C that are no C and not supported: coarrays (`x:[k]`),
// array sections (`a[b:l]`), library functions. It sees the tokens of a unit one by one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "diagnostics.h"
#include "place.h"

namespace nagaya::xmp {

class UnsupportedSyntax {
 public:
  void see(const std::string& token, const Place& place);
  // An XMP directive stands here. The statement behind gmove and array may have sections.
  void see_directive(const std::string& name);
  // Each kind once, where it stands first. Functions that the unit defines itself are left out.
  std::vector<Complaint> found() const;
  // Whether coarrays, sections or types were found, not only names of functions.
  bool has_syntax() const { return !complaints_.empty(); }

 private:
  struct Bracket {
    std::string open;
    int questions = 0;       // without their colons yet
    bool of_others = false;  // attributes [[...]], operands of asm
  };

  void see_colon(const Place& place);
  void see_name(const std::string& name, const Place& place);
  void see_bracket(const std::string& open);
  void complain(const Place& place, const std::string& text);
  bool in_asm() const;

  std::vector<Bracket> open_;
  std::string previous_;
  Place colon_;                  // of the last colon
  bool may_be_coarray_ = false;  // the last two tokens are `:[`
  bool is_asm_next_ = false;     // the next parenthesis is asm's
  bool is_of_another_ = false;   // up to the next semicolon sections follow from something else
  std::vector<Complaint> complaints_;
  std::set<std::string> texts_;  // of complaints_
  struct Name {
    std::string name;
    Place place;
  };
  std::vector<Name> names_;        // functions that are used
  std::string declared_;           // the function whose declaration is being read
  std::set<std::string> defined_;  // functions with a body in this unit
};

}  // namespace nagaya::xmp
