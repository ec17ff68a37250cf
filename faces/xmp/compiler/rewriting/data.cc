// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/data.h"

#include "rewriting/arrays.h"

namespace nagaya::xmp {
namespace {

// The block of this process: all processes along a dimension have the same.
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
  Data data{reference.name.text, "", "", reference.indexes.empty()};
  for (const Expression& index : reference.indexes) data.first += "[" + index.text() + "]";
  if (reference.length) {
    data.first += "[" + reference.base->text() + "]";
    data.count = "(" + reference.length->text() + ")";
    data.scalar = false;
  }
  // A formal array has lost its size; its extents are in its declaration.
  for (size_t d = reference.indexes.size() + (reference.length ? 1 : 0);
       d < variable->extents.size(); ++d) {
    const Extent& extent = variable->extents[d];
    data.first += "[0]";
    data.count += (data.count.empty() ? "(" : " * (") +
                  (extent.constant ? std::to_string(*extent.constant) : extent.text) + ")";
    data.scalar = false;
  }
  if (data.count.empty()) data.count = "1";
  data.address = "(void *)&" + data.first;
  return data;
}

}  // namespace nagaya::xmp
