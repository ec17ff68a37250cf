// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/arrays.h"

#include "rewriting/c_text.h"

namespace nagaya::xmp {
namespace {

bool constant_extent(const ArraySymbol& array, size_t d) {
  return !array.distributed(d) && array.variable->extents[d].constant;
}

// Returns the C text of an unevaluated expression that has the array's declared type.
std::string type_expression(const ArraySymbol& array) {
  if (array.is_pointer) return array.name();
  switch (array.home) {
    case ArraySymbol::kFile:
      return "(*" + array.type_name() + "())";
    case ArraySymbol::kLocal:
      return "(*" + array.type_name() + ")";
    default:
      return array.name();
  }
}

// Returns the extents in a row's declarator: "[xmp_count1_u][10]".
std::string row_extents(const ArraySymbol& array, const auto& count) {
  std::string text;
  for (size_t d = 1; d < array.rank(); ++d)
    text +=
        "[" + (constant_extent(array, d) ? array.variable->extents[d].c_text() : count(d)) + "]";
  return text;
}

std::string descriptor_member(const ArraySymbol& array, const char* member, size_t d) {
  return array.member() + member + "[" + std::to_string(d) + "]";
}

// Returns the text of a pointer to the array's rows, of the type that hoisted() declares, read from
// the descriptor.
std::string rows_of_descriptor(const ArraySymbol& array) {
  const std::string rows =
      row_extents(array, [&](size_t d) { return descriptor_member(array, "count", d); });
  return "((" + element_type(array) + (rows.empty() ? " *" : " (*)" + rows) + ")" + array.member() +
         "base)";
}

std::string declaration_arguments(const ArraySymbol& array) {
  std::vector<std::string> extents;
  // xmp_malloc tells the extents of a pointer's array.
  for (const Extent& extent : array.variable->extents)
    extents.push_back(array.is_pointer ? "-1" : extent.c_text());
  return list({literal(array.name()), "sizeof(" + element_type(array) + ")",
               std::to_string(array.rank()), array_of("long", extents), array.with->c_name(),
               alignment(array)});
}

}  // namespace

std::string element_type(const ArraySymbol& array) {
  const std::string& spelling = array.variable->element;
  if (spelling.empty()) {
    std::string element = type_expression(array);
    for (size_t d = 0; d < array.rank(); ++d) element += "[0]";
    return "__typeof__(" + element + ")";
  }
  return spelling.find('(') == std::string::npos ? spelling : "__typeof__(" + spelling + ")";
}

std::string declare_array_call(const ArraySymbol& array) {
  return call_statement("nagaya_xmp_declare_array", array.place(),
                        {"&" + array.c_name(), declaration_arguments(array)});
}

std::string descriptor_declaration(const ArraySymbol& array) {
  switch (array.home) {
    case ArraySymbol::kFile:
      return array.variable->is_static
                 ? "static nagaya_xmp_array " + array.c_name() + ";"
                 : "nagaya_xmp_array " + array.c_name() + " __attribute__((weak));";
    case ArraySymbol::kLocal:
      return array.variable->is_static
                 ? "static nagaya_xmp_array " + array.c_name() + ";"
                 : "nagaya_xmp_array " + array.c_name() +
                       " __attribute__((cleanup(nagaya_xmp_free_array))) = {0};";
    default:
      return "const nagaya_xmp_array *const " + array.c_name() + " = " +
             call_statement("nagaya_xmp_formal", array.place(),
                            {array.name(), declaration_arguments(array)});
  }
}

std::string hoisted(const ArraySymbol& array) {
  std::string text;
  for (size_t d = 0; d < array.rank(); ++d) {
    if (array.distributed(d))
      text += "const long " + array.offset_name(d) +
              " __attribute__((unused)) = " + descriptor_member(array, "first", d) + "; ";
    if (array.cyclic(d))
      text += "const nagaya_xmp_cycle " + array.cycle_name(d) +
              " __attribute__((unused)) = " + descriptor_member(array, "cycle", d) + "; ";
    if (d != 0 && !constant_extent(array, d))
      text += "const long " + array.count_name(d) +
              " __attribute__((unused)) = " + descriptor_member(array, "count", d) + "; ";
  }
  const std::string rows = row_extents(array, [&](size_t d) { return array.count_name(d); });
  const std::string pointer = "*const " + array.rows() + " __attribute__((unused))";
  return text + element_type(array) + " " +
         (rows.empty() ? pointer
                       : "(*const " + array.rows() + ")" + rows + " __attribute__((unused))") +
         " = (void *)" + array.member() + "base;";
}

std::vector<std::string> hoisted_names(const ArraySymbol& array) {
  std::vector<std::string> names = {array.rows()};
  for (size_t d = 0; d < array.rank(); ++d) {
    if (array.distributed(d)) names.push_back(array.offset_name(d));
    if (array.cyclic(d)) names.push_back(array.cycle_name(d));
    if (d != 0 && !constant_extent(array, d)) names.push_back(array.count_name(d));
  }
  return names;
}

void ArrayRewriter::rewrite_declarations() {
  for (const ArraySymbol& array : program_.arrays) {
    if (array.home == ArraySymbol::kFormal || array.is_pointer) continue;
    const std::string type = array.type_name();
    for (const Variable& declared : program_.facts.variables) {
      if (declared.entity != array.variable->entity || declared.kind != Variable::kObject) continue;
      const Range name{declared.name_offset, declared.name_offset + declared.name.size()};
      const bool is_local = array.home == ArraySymbol::kLocal;
      edits_.replace(name, "(*__attribute__((unused)) " + type + (is_local ? ")" : "(void))"));
      if (is_local && !array.variable->is_static) continue;
      // Writes extents as numbers, because C has no constant in: static const int N = 4; double
      // u[N];
      for (const Extent& extent : declared.extents)
        if (extent.constant && extent.written.begin < extent.written.end)
          edits_.replace(extent.written, std::to_string(*extent.constant));
    }
  }
}

void ArrayRewriter::rewrite(const Use& use, const ArraySymbol& array) {
  if (array.is_allocated() && (use.unevaluated || use.subscripts.empty())) return rewrite_free(use);
  if (use.unevaluated) {
    if (array.home != ArraySymbol::kFormal) edits_.replace(use.name, type_expression(array));
    return;
  }
  const bool elsewhere =
      program_.may_be_fixed_elsewhere(array, *program_.facts.function_at(use.name.begin));
  const std::string rows = elsewhere ? rows_of_descriptor(array) : array.rows();
  if (use.subscripts.empty() && use.address_of) {
    // &u keeps its type, a pointer to the whole array, but points to the local block.
    edits_.replace(*use.address_of, "((__typeof__(" + type_expression(array) + ") *)" + rows + ")");
    return;
  }
  edits_.replace(use.name, rows);
  for (size_t d = 0; d < use.subscripts.size() && d < array.rank(); ++d) {
    if (!array.distributed(d) && !checked_) continue;
    rewrite_subscript(use, array, rows, d, elsewhere);
  }
}

// Rewrites free(p) of a pointer that has its block by xmp_malloc: the block is no memory of malloc.
void ArrayRewriter::rewrite_free(const Use& use) {
  const std::string kFree = "free";
  if (use.calls.empty() || use.unevaluated) return;
  const size_t call = use.calls.back();
  const std::string& text = printed_.text();
  const size_t open = text.find_first_not_of(" \t\n", call + kFree.size());
  if (text.compare(call, kFree.size(), kFree) == 0 && open < use.name.begin && text[open] == '(')
    edits_.replace({call, call + kFree.size()}, "nagaya_xmp_free_block");
}

void ArrayRewriter::rewrite_subscript(const Use& use, const ArraySymbol& array,
                                      const std::string& rows, size_t d,
                                      bool may_be_fixed_elsewhere) {
  const size_t open = use.subscripts[d].open, close = use.subscripts[d].close;
  const auto hoisted_or_member = [&](const std::string& name, const char* member) {
    return may_be_fixed_elsewhere ? descriptor_member(array, member, d) : name;
  };
  const std::string place =
      array.cyclic(d) && !checked_ ? loops_.place_of(array, d, {open + 1, close}) : "";
  std::string before = "(", behind = ")";
  if (checked_) {
    const size_t behind_it = array.variable->extents.size() - 1 - d;
    before = "nagaya_xmp_checked(" +
             list({where(printed_.place(use.name.begin)), rows, std::to_string(behind_it), "("});
    behind = "))";
  }
  if (array.cyclic(d)) {
    before = "nagaya_xmp_place(" + hoisted_or_member(array.cycle_name(d), "cycle") + ", " + before;
    behind += ")";
  }
  if (array.distributed(d)) behind += " - " + hoisted_or_member(array.offset_name(d), "first");
  if (!place.empty()) {
    edits_.replace({open + 1, close}, place);
    before.clear();
    behind = " - " + hoisted_or_member(array.offset_name(d), "first");
  }
  if (!before.empty()) edits_.insert(open + 1, before);
  edits_.close(close, open, behind);
}

void ArrayRewriter::rewrite_uses() {
  for (const Use& use : program_.facts.uses)
    if (program_.is_side_of_gmove(use)) {
      continue;
    } else if (const ArraySymbol* array = program_.array_of(use.entity, use.name.begin)) {
      rewrite(use, *array);
    } else if (use.unevaluated) {
      for (const ArraySymbol& later : program_.arrays)
        if (later.variable->entity == use.entity) rewrite(use, later);
    }
}

void ArrayRewriter::hoist_file_arrays() {
  for (const Function& function : program_.facts.functions) {
    std::string text;
    for (const ArraySymbol& array : program_.arrays)
      if (array.home == ArraySymbol::kFile && program_.uses_array(function.body, array) &&
          program_.template_fix_of(array, function) == nullptr &&
          !program_.may_be_fixed_elsewhere(array, function))
        text += " " + hoisted(array);
    if (!text.empty()) edits_.insert(function.body.begin + 1, text);
  }
}

std::string ArrayRewriter::hoisted_by(const Directive& fix) const {
  const Function& function = *program_.facts.function_at(fix.offset);
  std::string text;
  for (const ArraySymbol& array : program_.arrays)
    if (program_.uses_array(function.body, array) &&
        program_.template_fix_of(array, function) == &fix)
      text += " " + hoisted(array);
  return text;
}

}  // namespace nagaya::xmp
