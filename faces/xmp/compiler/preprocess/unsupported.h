// SPDX-License-Identifier: BSD-3-Clause
// unsupported.h - finds parts of XcalableMP/C that xmpcc does not support: coarrays (`x:[k]`),
// library functions. It is given the tokens of a unit one by one.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "diagnostics.h"
#include "place.h"

namespace nagaya::xmp {

class UnsupportedSyntax {
 public:
  // Takes the unit's next token. `ignores_colons`: Sections::ignores_colons() before the token.
  void see(const std::string& token, const Place& place, bool ignores_colons);
  // Returns one complaint for each kind, at its first place. Functions that the unit defines itself
  // are left out.
  std::vector<Complaint> found() const;
  // Whether coarrays or types were found: names of functions alone are valid C.
  bool has_syntax() const { return !complaints_.empty(); }

 private:
  void see_name(const std::string& name, const Place& place);
  void complain(const Place& place, const std::string& text);

  std::string previous_;
  Place colon_;                  // place of the last colon
  bool may_be_coarray_ = false;  // the last two tokens are `:[`
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
