// SPDX-License-Identifier: BSD-3-Clause
// sections.h - array sections in statements: writes `a[base:length:step]`, which is no C, as the
// comma expression `a[base,length,step]`, and records where it stands. An omitted part is written
// as 0, of a step as 1: `a[:]` becomes `a[0,0]`. It is given the tokens of a unit one by one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "preprocess/unit.h"

namespace nagaya::xmp {

class Sections {
 public:
  explicit Sections(Unit& unit) : unit_(unit) {}

  // Takes the unit's next token, which stands at the end of its text. Returns the text to write for
  // it; digraphs become brackets.
  std::string see(const std::string& token, const Place& place);
  // Whether the token behind those that see() has got stands in an attribute [[...]] or among the
  // operands of asm, where colons and brackets have other meanings.
  bool ignores_colons() const { return !open_.empty() && open_.back().ignores_colons; }
  const std::vector<Complaint>& complaints() const { return complaints_; }

 private:
  struct Bracket {
    std::string open;
    size_t offset;      // of the bracket
    int questions = 0;  // `?` of conditional expressions whose `:` has not come yet
    bool ignores_colons = false;
    std::vector<Range> parts{};    // of the section, if it is one, up to the last colon
    size_t part_begin = 0;         // where the current part begins
    std::optional<Place> comma{};  // the first comma in it, which is an operator
  };

  void open(const std::string& bracket);
  std::string close(const std::string& bracket);
  std::string colon(const Place& place);
  // Ends the current part here. Returns the text of an omitted part.
  std::string end_part();
  bool in_function() const;

  Unit& unit_;
  std::vector<Bracket> open_;
  std::string previous_;
  bool is_asm_next_ = false;  // the next parenthesis opens the operands of asm
  std::vector<Complaint> complaints_;
};

}  // namespace nagaya::xmp
