// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/cyclic_loops.h"

#include <cctype>

namespace nagaya::xmp {
namespace {

// Returns the value of a sum of whole numbers, "0L + 2 - 1"; nullopt: it is something else. An
// empty text is 0.
std::optional<long> sum_of_numbers(const std::string& text) {
  long sum = 0, sign = 1;
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (std::isdigit(c) != 0) {
      size_t end = at;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
      // Octal numbers and those that may overflow are left to the general access.
      if (end - at > 9 || (c == '0' && end - at > 1)) return std::nullopt;
      sum += sign * std::stol(text.substr(at, end - at));
      if (end < text.size() && text[end] == 'L') ++end;
      if (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0)
        return std::nullopt;
      sign = 1;
      at = end;
    } else if (c == '+' || c == '-') {
      if (c == '-') sign = -sign;
      ++at;
    } else if (std::isspace(c) != 0) {
      ++at;
    } else {
      return std::nullopt;
    }
  }
  return sum;
}

}  // namespace

bool CyclicLoops::is_cyclic(const Reference& on, const DistributedLoop& loop) const {
  const TemplateSymbol* of = program_.references.at(&on).of_template;
  return of != nullptr && of->is_cyclic(loop.dimension);
}

void CyclicLoops::rewrite(const Reference& on, const DistributedLoop& distributed,
                          const std::string& name, Edits& edits) {
  const TemplateSymbol* of = program_.references.at(&on).of_template;
  const Loop& loop = program_.facts.loops[distributed.loop];
  const std::string index = program_.index_name(distributed.loop), rounds = name + "_rounds",
                    n = name + "_n", step = loop.has_computed_step() ? name + "_step" : loop.step;
  const bool has_width = of->distribution->formats[distributed.dimension].width.has_value();
  const bool is_by_one = step == "1" || step == "-1";
  const std::string sign = loop.upwards ? " < " : " > ";
  edits.replace(loop.header, "long " + n + " = " + rounds + ".first; " + n + sign + rounds +
                                 ".end; " + n +
                                 (has_width || is_by_one ? (loop.upwards ? " += 1" : " -= 1")
                                                         : " += " + rounds + ".step"));
  std::string begin = "{ " + loop.index_type + " " + index + " __attribute__((unused)) = (" +
                      loop.index_type + ")(" + rounds + ".low + " + n + " * " + rounds +
                      ".round); ";
  if (has_width)
    begin = "{ const nagaya_xmp_range " + name + "_run = nagaya_xmp_run(&" + rounds + ", " + n +
            ", " + step + "); const long " + name + "_behind __attribute__((unused)) = " + rounds +
            ".low + " + n + " * (" + rounds + ".round - " + rounds + ".width); " + loop.index_type +
            " " + index + "; for (" + index + " = (" + loop.index_type + ")" + name +
            "_run.first; " + index + sign + name + "_run.end; " + index + " += (" +
            loop.index_type + ")(" + step + ")) ";
  // Before the pragmas of the body.
  edits.insert(loop.header.end + 1, begin);
  edits.close(loop.whole.end, loop.header.end, " }");
  rewritten_.push_back({of, distributed, name, has_width});
}

std::optional<long> CyclicLoops::moved_by(const Range& subscript, const Loop& loop) const {
  const Use* index = nullptr;
  for (const Use& use : program_.facts.uses)
    if (subscript.contains(use.name)) {
      if (index != nullptr || use.entity != loop.index) return std::nullopt;
      index = &use;
    }
  if (index == nullptr) return std::nullopt;
  const auto text = [&](size_t begin, size_t end) {
    return printed_.text().substr(begin, end - begin);
  };
  const std::string before = text(subscript.begin, index->name.begin);
  const size_t last = before.find_last_not_of(" \t\n");
  if (last != std::string::npos && (before[last] != '+' || before.find('-') < last))
    return std::nullopt;
  const std::optional<long> first = sum_of_numbers(before),
                            rest = sum_of_numbers(text(index->name.end, subscript.end));
  return first && rest ? std::optional(*first + *rest) : std::nullopt;
}

std::string CyclicLoops::place_of(const ArraySymbol& array, size_t d,
                                  const Range& subscript) const {
  const std::optional<long> alignment = sum_of_numbers(array.alignment[d].offset.text);
  for (const Rewritten& one : rewritten_) {
    const Loop& loop = program_.facts.loops[one.loop.loop];
    if (one.of != array.with || !loop.body.contains(subscript) ||
        one.loop.dimension != static_cast<size_t>(array.alignment[d].dimension))
      continue;
    const std::optional<long> moved = moved_by(subscript, loop),
                              on = sum_of_numbers(one.loop.offset);
    if (!alignment || !moved || !on || *moved + *alignment != *on) continue;
    // The index moved by `on` lies on the template where the loop's place is.
    if (!one.has_width) return one.name + "_n";
    return "(" + program_.index_name(one.loop.loop) + ") - " + one.name + "_behind";
  }
  return "";
}

}  // namespace nagaya::xmp
