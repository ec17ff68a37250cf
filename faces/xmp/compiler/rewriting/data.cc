// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/data.h"

#include "rewriting/arrays.h"

namespace nagaya::xmp {
namespace {

// Returns this process's block of a distributed array; check_replicated() has made sure that all
// processes of the communication have the same block.
Data replicated(const ArraySymbol& array) {
  Data data{"((" + element_type(array) + " *)" + array.member() + "base)[0]",
            array.member() + "base", "1", false};
  for (size_t d = 0; d < array.rank(); ++d)
    data.count += " * " + array.member() + "count[" + std::to_string(d) + "]";
  return data;
}

}  // namespace

Data data_of(const Program& program, const DataReference& reference, size_t offset) {
  if (const ArraySymbol* array = program.find_array(reference.name.text, offset))
    return replicated(*array);
  const Variable* variable = program.facts.lookup(reference.name.text, offset);
  Data data{reference.name.text, "", "1UL", reference.indexes.empty()};
  size_t d = reference.indexes.size();
  for (const Expression& index : reference.indexes) data.first += "[" + index.text() + "]";
  if (reference.length) {
    data.first += "[" + reference.base->text() + "]";
    data.count += " * (" + reference.length->text() + ")";
    ++d;
  } else if (d == 0 && variable->kind == Variable::kParameter && !variable->extents.empty()) {
    // sizeof cannot give the first extent of a formal array, so the declaration's text does.
    data.first += "[0]";
    data.count += " * (" + variable->extents[d++].c_text() + ")";
  }
  data.scalar = data.scalar && !reference.length && variable->extents.empty();
  // sizeof counts the other extents: their expressions may have other values by now.
  const std::string part = data.first;
  const bool is_array = d < variable->extents.size();
  for (; d < variable->extents.size(); ++d) data.first += "[0]";
  if (is_array) data.count += " * (sizeof(" + part + ") / sizeof(" + data.first + "))";
  data.address = "(void *)&" + data.first;
  return data;
}

}  // namespace nagaya::xmp
