// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/reductions.h"

#include <array>
#include <vector>

#include "rewriting/c_text.h"
#include "rewriting/data.h"

namespace nagaya::xmp {
namespace {

std::string operation_name(ReductionOperation operation) {
  // Indexed by ReductionOperation.
  static constexpr std::array kNames = {"SUM",       "PRODUCT",   "BIT_AND",  "BIT_OR",  "BIT_XOR",
                                        "AND",       "OR",        "XOR",      "MAX",     "MIN",
                                        "FIRST_MAX", "FIRST_MIN", "LAST_MAX", "LAST_MIN"};
  return std::string("NAGAYA_XMP_") + kNames.at(static_cast<size_t>(operation));
}

ReductionOperation from_the_end(ReductionOperation operation) {
  switch (operation) {
    case ReductionOperation::kMax:
    case ReductionOperation::kFirstMax:
      return ReductionOperation::kLastMax;
    case ReductionOperation::kMin:
    case ReductionOperation::kFirstMin:
      return ReductionOperation::kLastMin;
    case ReductionOperation::kLastMax:
      return ReductionOperation::kFirstMax;
    case ReductionOperation::kLastMin:
      return ReductionOperation::kFirstMin;
    default:
      return operation;
  }
}

struct Neutral {
  // Null pointers for operations in which a value may count twice (max, and, ...): no need there.
  const char *value, *operation;
};

Neutral neutral_of(ReductionOperation operation) {
  switch (operation) {
    case ReductionOperation::kSum:
      return {"0", "+"};
    case ReductionOperation::kProduct:
      return {"1", "*"};
    case ReductionOperation::kBitXor:
      return {"0", "^"};
    case ReductionOperation::kXor:
      return {"0", "!="};
    default:
      return {nullptr, nullptr};
  }
}

std::string combined(ReductionOperation operation, const std::string& left,
                     const std::string& right) {
  // Compares truth values: C has no logical xor.
  if (operation == ReductionOperation::kXor) return "!" + left + " != !" + right;
  return left + " " + neutral_of(operation).operation + " " + right;
}

std::string each(const Data& data, const std::string& body) {
  // Declared before the loop: C90 allows no declaration in a for statement.
  return " { long xmp_k; for (xmp_k = 0; xmp_k < " + data.count + "; ++xmp_k) " + body + " }";
}

}  // namespace

std::string reduce_calls(const Program& program, const ReductionClause& clause, size_t offset,
                         const std::vector<Reduced>& reduced, const std::string& on,
                         const std::string& async, bool downwards) {
  std::string text;
  for (size_t i = 0; i < clause.variables.size(); ++i) {
    const ReductionVariable& variable = clause.variables[i];
    std::vector<std::string> locations;
    for (const Data& location : reduced[i].locations)
      locations.push_back(braces({location.address, location.bytes()}));
    const bool by_nodes = reduced[i].loops == 0;
    const std::string located =
        "&(const nagaya_xmp_locations)" +
        braces({std::to_string(locations.size()), array_of("nagaya_xmp_location", locations),
                std::to_string(reduced[i].loops), by_nodes ? "0" : reduced[i].iteration});
    text +=
        " " + call_statement("nagaya_xmp_reduce", clause.place,
                             {operation_name(downwards && by_nodes ? from_the_end(clause.operation)
                                                                   : clause.operation),
                              program.facts.lookup(variable.data.name.text, offset)->reduction_type,
                              reduced[i].data.address, reduced[i].data.count,
                              locations.empty() ? "0" : located, on, async});
  }
  return text;
}

std::vector<Reduced> data_of_clause(const Program& program, const ReductionClause& clause,
                                    size_t offset) {
  std::vector<Reduced> all;
  for (const ReductionVariable& variable : clause.variables) {
    Reduced& reduced = all.emplace_back(Reduced{data_of(program, variable.data, offset), {}});
    for (const DataReference& location : variable.locations)
      reduced.locations.push_back(data_of(program, location, offset));
  }
  return all;
}

LoopReduction::LoopReduction(const Program& program, const ReductionClause& clause, size_t which,
                             size_t offset, const Nest& nest)
    : program_(program),
      clause_(clause),
      which_(which),
      offset_(offset),
      nest_(nest),
      downwards_(!program.facts.loops[nest.loops.front().loop].upwards),
      named_(data_of_clause(program, clause, offset)) {
  for (size_t i = 0; i < named_.size(); ++i) {
    const std::string& name = clause.variables[i].data.name.text;
    const bool is_own_variable =
        named_[i].data.scalar && program.is_accessed_by_name_only(
                                     *program.facts.lookup(name, offset), program.range_of(nest));
    own_.push_back({is_own_variable
                        ? Data{own_name("part", i), "&" + own_name("part", i), "1", true}
                        : by_pointer(own_name("data", i), own_name("length", i), named_[i].data),
                    {}});
    if (is_own_variable && !named_[i].locations.empty()) {
      own_.back().iteration = own_name("order", i);
      own_.back().loops = nest.all_loops.size();
    }
    for (size_t k = 0; k < named_[i].locations.size(); ++k) {
      const Data& location = named_[i].locations[k];
      const std::string number = std::to_string(k) + "_";
      own_.back().locations.push_back(
          location.scalar
              ? location
              : by_pointer(own_name("data" + number, i), own_name("length" + number, i), location));
    }
  }
}

std::string LoopReduction::own_name(const std::string& kind, size_t variable) const {
  return "xmp_" + kind + std::to_string(which_) + "_" + std::to_string(variable) + "_" +
         clause_.variables[variable].data.name.text;
}

// Declares a pointer to the data `named` and their count, both computed before the loop, because
// the loop may change their subscripts. Returns the data as reached through these.
Data LoopReduction::by_pointer(const std::string& pointer, const std::string& count,
                               const Data& named) {
  pointer_declarations_ += " __typeof__(" + named.first + ") *const " + pointer + " = &" +
                           named.first + "; const long " + count + " = " + named.count + ";";
  return {pointer + "[0]", "(void *)" + pointer, count, false};
}

std::string LoopReduction::declarations() const {
  const char* neutral = neutral_of(clause_.operation).value;
  std::string text;
  for (size_t i = 0; i < named_.size(); ++i) {
    const Data &named = named_[i].data, &own = own_[i].data;
    const std::string type = " __typeof__(" + named.first + ") ";
    if (own.scalar)
      text += type + own.first + " = " + named.first + ";";
    else if (neutral != nullptr)
      text += type + "*const " + own_name("saved", i) + " = " +
              call_statement("nagaya_xmp_copy", clause_.place, {own.address, own.bytes()}) +
              each(own, own_name("data", i) + "[xmp_k] = " + neutral + ";");
    // LONG_MIN orders a value from before the loop before all iterations.
    if (own_[i].loops != 0)
      text += " long " + own_[i].iteration + "[" + std::to_string(own_[i].loops) +
              "] = {-(long)(~0UL >> 1) - 1};";
  }
  return text;
}

// Declares variables that hide the user's by the same names. Nobody takes their addresses.
std::string LoopReduction::hiding_declarations() const {
  const char* neutral = neutral_of(clause_.operation).value;
  std::string text;
  for (size_t i = 0; i < named_.size(); ++i) {
    const std::string &named = named_[i].data.first, &own = own_[i].data.first;
    if (own_[i].data.scalar)
      text += " __typeof__(" + named + ") " + named + " = " + (neutral != nullptr ? neutral : own) +
              ";";
  }
  return text;
}

std::vector<std::string> LoopReduction::record_iterations(Edits& edits) const {
  std::vector<std::string> variables;
  for (size_t i = 0; i < own_.size(); ++i) {
    if (own_[i].loops == 0) continue;
    const std::string& name = clause_.variables[i].data.name.text;
    std::string notes;
    for (size_t k = 0; k < nest_.all_loops.size(); ++k)
      notes += own_[i].iteration + "[" + std::to_string(k) +
               "] = " + (program_.facts.loops[nest_.all_loops[k]].upwards ? "" : "~") + "(long)" +
               program_.index_name(nest_.all_loops[k]) + ", ";
    const size_t entity = program_.facts.lookup(name, offset_)->entity;
    for (const Use* use : program_.writes_of(entity, program_.range_of(nest_)))
      edits.replace(use->name, "(*(" + notes + "&" + name + "))");
    variables.push_back(own_[i].iteration);
  }
  return variables;
}

std::string LoopReduction::saving_assignments() const {
  std::string text;
  for (size_t i = 0; i < named_.size(); ++i)
    if (own_[i].data.scalar) text += " " + own_[i].data.first + " = " + named_[i].data.first + ";";
  return text;
}

std::string LoopReduction::reduction_calls(const std::string& on) const {
  std::string text = reduce_calls(program_, clause_, offset_, own_, on, "0", downwards_);
  const bool neutral = neutral_of(clause_.operation).value != nullptr;
  for (size_t i = 0; i < named_.size(); ++i) {
    const Data &named = named_[i].data, &own = own_[i].data;
    if (own.scalar) {
      text += " " + named.first + " = " +
              (neutral ? combined(clause_.operation, named.first, own.first) : own.first) + ";";
    } else if (neutral) {
      const std::string target = own_name("data", i) + "[xmp_k]", saved = own_name("saved", i);
      text +=
          each(own, target + " = " + combined(clause_.operation, saved + "[xmp_k]", target) + ";") +
          " nagaya_xmp_free_copy((void *)" + saved + ");";
    }
  }
  return text;
}

}  // namespace nagaya::xmp
