// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/hoisted_offsets.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace nagaya::xmp {
namespace {

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string variable_of(size_t coindex) {
  return "xmp_offset" + std::to_string(coindex);
}

std::string look_up(const CoarraySymbol& coarray, const std::string& image) {
  return "nagaya_xmp_offset(&" + coarray.c_name() + ", " + image + ")";
}

}  // namespace

void HoistedOffsets::declare(Edits& edits, std::map<size_t, std::vector<std::string>>& variables) {
  for (const CoindexUse& use : program_.facts.coindex_uses) {
    const size_t loop = loop_with_one_image(use);
    if (loop == kNone) continue;
    const Coindex& coindex = unit_.coindexes[use.coindex];
    const Range &whole = program_.facts.loops[loop].whole, &image = coindex.images.front();
    const std::string name = variable_of(use.coindex);
    edits.insert_line(
        unit_.printed, before_loop_pragmas(unit_, whole.begin), coindex.place,
        "{ const long " + name + " = " +
            look_up(*program_.coindexed.at(use.coindex),
                    unit_.printed.text().substr(image.begin, image.end - image.begin)) +
            ";");
    edits.close(whole.end, whole.begin, " }");
    variables[program_.facts.statement_behind(whole.begin)].push_back(name);
    hoisted_.insert(use.coindex);
  }
}

std::string HoistedOffsets::offset_of(size_t coindex, const std::string& image) const {
  return hoisted_.contains(coindex) ? variable_of(coindex)
                                    : look_up(*program_.coindexed.at(coindex), image);
}

size_t HoistedOffsets::loop_with_one_image(const CoindexUse& use) const {
  if (use.kind == CoindexUse::kUnevaluated || program_.is_side_of_sections(use) ||
      program_.is_atom(use) || unit_.coindexes[use.coindex].images.size() != 1 ||
      !program_.coindexed.at(use.coindex)->codimensions.empty())
    return kNone;
  const std::vector<Loop>& loops = program_.facts.loops;
  size_t found = kNone;
  for (size_t n = 0; n < loops.size(); ++n)
    if (loops[n].whole.contains(use.whole) && may_stand_before(loops[n].whole, use) &&
        (found == kNone || loops[n].whole.contains(loops[found].whole)))
      found = n;
  return found;
}

bool HoistedOffsets::may_stand_before(const Range& loop, const CoindexUse& use) const {
  return !has_task(loop, use.whole) && !is_entered_by_jump(loop) && !is_in_openmp_nest(loop) &&
         is_the_same_in(loop, unit_.coindexes[use.coindex].images.front());
}

// Whether the use stands in a task that begins in the loop, or at it.
bool HoistedOffsets::has_task(const Range& loop, const Range& use) const {
  return std::ranges::any_of(program_.statements, [&](const auto& one) {
    const Range& task = program_.facts.statements[one.second].range;
    return loop.contains(task) && task.contains(use);
  });
}

// A computed goto may lead anywhere.
bool HoistedOffsets::is_entered_by_jump(const Range& loop) const {
  return std::ranges::any_of(program_.facts.jumps, [&](const Jump& jump) {
    const bool has_label = jump.kind == Jump::kCase || jump.kind == Jump::kGoto;
    return has_label && !loop.contains(jump.offset) &&
           (jump.target == kNone || loop.contains(jump.target));
  });
}

// Whether OpenMP takes the loop as an inner one of a nest, between whose loops nothing may stand.
bool HoistedOffsets::is_in_openmp_nest(const Range& loop) const {
  return std::ranges::any_of(unit_.pragmas, [&](const KeptPragma& pragma) {
    if (!pragma.openmp || pragma.end > loop.begin) return false;
    const size_t nest = program_.facts.statement_behind(pragma.end);
    if (nest == kNone || !program_.facts.statements[nest].range.contains(loop) ||
        program_.facts.statements[nest].range.begin == loop.begin)
      return false;
    const std::string text = unit_.printed.text().substr(pragma.begin, pragma.end - pragma.begin);
    for (const char* word : {"collapse", "ordered", "tile"})
      if (text.find(word) != std::string::npos) return true;
    return false;
  });
}

// Whether the expression is a sum or product of constants and of integer variables that keep their
// values in the loop. Its value does no harm where the program would not compute it.
bool HoistedOffsets::is_the_same_in(const Range& loop, const Range& expression) const {
  const std::string& text = unit_.printed.text();
  for (size_t at = expression.begin; at < expression.end; ++at) {
    if (!is_of_word(text[at])) {
      if (std::string_view("+-*() \n").find(text[at]) == std::string_view::npos) return false;
      continue;
    }
    const size_t begin = at;
    while (at + 1 < expression.end && is_of_word(text[at + 1])) ++at;
    if (std::isdigit(static_cast<unsigned char>(text[begin])) != 0) continue;
    const Variable* variable =
        program_.facts.lookup(text.substr(begin, at + 1 - begin), expression.begin);
    if (variable == nullptr || !keeps_value(*variable, loop)) return false;
  }
  return true;
}

bool HoistedOffsets::keeps_value(const Variable& variable, const Range& loop) const {
  if (variable.visible_from > loop.begin) return false;
  if (variable.kind == Variable::kConstant) return true;
  const bool is_integer =
      (variable.kind == Variable::kObject || variable.kind == Variable::kParameter) &&
      variable.is_integer && variable.extents.empty();
  return is_integer && variable.element.find("volatile") == std::string::npos &&
         program_.coarray_of(variable.entity) == nullptr &&
         program_.is_accessed_by_name_only(variable, loop) &&
         program_.writes_of(variable.entity, loop).empty();
}

}  // namespace nagaya::xmp
