// SPDX-License-Identifier: BSD-3-Clause
#include "rewriting/reductions.h"

#include <vector>

#include "rewriting/c_text.h"
#include "rewriting/data.h"

namespace nagaya::xmp {
namespace {

const char* operation_name(ReductionOperation operation) {
  switch (operation) {
    case ReductionOperation::kSum:
      return "NAGAYA_XMP_SUM";
    case ReductionOperation::kProduct:
      return "NAGAYA_XMP_PRODUCT";
    case ReductionOperation::kBitAnd:
      return "NAGAYA_XMP_BIT_AND";
    case ReductionOperation::kBitOr:
      return "NAGAYA_XMP_BIT_OR";
    case ReductionOperation::kBitXor:
      return "NAGAYA_XMP_BIT_XOR";
    case ReductionOperation::kAnd:
      return "NAGAYA_XMP_AND";
    case ReductionOperation::kOr:
      return "NAGAYA_XMP_OR";
    case ReductionOperation::kXor:
      return "NAGAYA_XMP_XOR";
    case ReductionOperation::kMax:
      return "NAGAYA_XMP_MAX";
    case ReductionOperation::kMin:
      return "NAGAYA_XMP_MIN";
    case ReductionOperation::kFirstMax:
      return "NAGAYA_XMP_FIRST_MAX";
    case ReductionOperation::kFirstMin:
      return "NAGAYA_XMP_FIRST_MIN";
    case ReductionOperation::kLastMax:
      return "NAGAYA_XMP_LAST_MAX";
    case ReductionOperation::kLastMin:
      return "NAGAYA_XMP_LAST_MIN";
  }
  return "";
}

ReductionOperation from_the_end(ReductionOperation operation) {
  switch (operation) {
    case ReductionOperation::kFirstMax:
      return ReductionOperation::kLastMax;
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
  const char *value, *operation;  // neither for an operation that takes a value twice as once
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
  // Of a logical operation both sides are truth values.
  if (operation == ReductionOperation::kXor) return "!" + left + " != !" + right;
  return left + " " + neutral_of(operation).operation + " " + right;
}

std::string each(const Data& data, const std::string& body) {
  return " for (long xmp_k = 0; xmp_k < " + data.count + "; ++xmp_k) " + body;
}

}  // namespace

std::string reduce_calls(const Program& program, const ReductionClause& clause, size_t offset,
                         const std::vector<Data>& reduced, const std::string& on,
                         const std::string& async, bool downwards) {
  std::string text;
  for (size_t i = 0; i < clause.variables.size(); ++i) {
    const ReductionVariable& variable = clause.variables[i];
    std::vector<std::string> locations;
    for (const Token& location : variable.locations) {
      const Data found = data_of(program, {location, {}, {}, {}}, offset);
      locations.push_back("{" + found.address + ", " + found.bytes() + "}");
    }
    text +=
        " nagaya_xmp_reduce(" +
        list({where(clause.place),
              operation_name(downwards ? from_the_end(clause.operation) : clause.operation),
              program.facts.lookup(variable.data.name.text, offset)->reduction_type,
              reduced[i].address, reduced[i].count, std::to_string(locations.size()),
              locations.empty() ? "0" : "(const nagaya_xmp_location[]){" + list(locations) + "}",
              on, async}) +
        ");";
  }
  return text;
}

std::vector<Data> data_of(const Program& program, const ReductionClause& clause, size_t offset) {
  std::vector<Data> all;
  for (const ReductionVariable& variable : clause.variables)
    all.push_back(data_of(program, variable.data, offset));
  return all;
}

LoopReduction::LoopReduction(const Program& program, const ReductionClause& clause, size_t offset,
                             const Nest& nest)
    : program_(program),
      clause_(clause),
      offset_(offset),
      downwards_(!program.facts.loops[nest.loops.front().loop].upwards),
      named_(data_of(program, clause, offset)) {
  const Range& whole = program.facts.statements[nest.statement].range;
  for (size_t i = 0; i < named_.size(); ++i) {
    const std::string& name = clause.variables[i].data.name.text;
    // The data itself by a pointer: subscripts may change in the loop.
    Data own{own_name("data", i) + "[0]", "(void *)" + own_name("data", i), own_name("length", i),
             false};
    if (named_[i].scalar && is_only_named(*program.facts.lookup(name, offset), whole))
      own = {own_name("part", i), "&" + own_name("part", i), "1", true};
    own_.push_back(own);
  }
}

std::string LoopReduction::own_name(const std::string& kind, size_t which) const {
  return "xmp_" + kind + std::to_string(which) + "_" + clause_.variables[which].data.name.text;
}

// Nothing in the nest can reach the variable but by its name.
bool LoopReduction::is_only_named(const Variable& variable, const Range& nest) const {
  for (const Use& use : program_.facts.uses)
    if (use.entity == variable.entity && use.address_of) return false;
  if (!variable.file_scope && !variable.is_static) return true;
  for (const Call& call : program_.facts.calls)
    if (nest.contains(call.offset)) return false;
  return true;
}

std::string LoopReduction::before() const {
  const char* neutral = neutral_of(clause_.operation).value;
  std::string declarations, blocks;
  for (size_t i = 0; i < named_.size(); ++i) {
    const Data &named = named_[i], &own = own_[i];
    const std::string type = " __typeof__(" + named.first + ") ";
    if (own.scalar) {
      // A variable of the same name, whose address nobody takes.
      declarations += type + own.first + " = " + named.first + ";";
      blocks += type + named.first + " = " + (neutral != nullptr ? neutral : own.first) + ";";
      continue;
    }
    const std::string data = own_name("data", i);
    declarations += type + "*const " + data + " = &" + named.first + "; const long " + own.count +
                    " = " + named.count + ";";
    if (neutral != nullptr)
      declarations += type + "*const " + own_name("saved", i) + " = nagaya_xmp_copy(" +
                      list({where(clause_.place), own.address, own.bytes()}) + ");" +
                      each(own, data + "[xmp_k] = " + neutral + ";");
  }
  return declarations + " {" + blocks;
}

std::string LoopReduction::after(const std::string& on) const {
  std::string text;
  for (size_t i = 0; i < named_.size(); ++i)
    if (own_[i].scalar) text += " " + own_[i].first + " = " + named_[i].first + ";";
  text += " }" + reduce_calls(program_, clause_, offset_, own_, on, "0", downwards_);
  const bool neutral = neutral_of(clause_.operation).value != nullptr;
  for (size_t i = 0; i < named_.size(); ++i) {
    const Data &named = named_[i], &own = own_[i];
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
