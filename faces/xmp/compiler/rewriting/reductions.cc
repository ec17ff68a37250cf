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
                         const std::string& on, const std::string& async,
                         const std::map<std::string, std::string>& parts, bool downwards) {
  std::string text;
  for (const ReductionVariable& variable : clause.variables) {
    const std::string& name = variable.data.name.text;
    const Data data = data_of(program, variable.data, offset);
    std::vector<std::string> locations;
    for (const Token& location : variable.locations) {
      const Data found = data_of(program, {location, {}, {}, {}}, offset);
      locations.push_back("{" + found.address + ", " + found.bytes() + "}");
    }
    const auto part = parts.find(name);
    text +=
        " nagaya_xmp_reduce(" +
        list({where(clause.place),
              operation_name(downwards ? from_the_end(clause.operation) : clause.operation),
              program.facts.lookup(name, offset)->reduction_type,
              part != parts.end() ? "&" + part->second : data.address, data.count,
              std::to_string(locations.size()),
              locations.empty() ? "0" : "(const nagaya_xmp_location[]){" + list(locations) + "}",
              on, async}) +
        ");";
  }
  return text;
}

LoopReduction::LoopReduction(const Program& program, const ReductionClause& clause, size_t offset,
                             const Nest& nest)
    : program_(program),
      clause_(clause),
      offset_(offset),
      downwards_(!program.facts.loops[nest.loops.front().loop].upwards) {
  const Range& whole = program.facts.statements[nest.statement].range;
  for (const ReductionVariable& variable : clause.variables) {
    const std::string& name = variable.data.name.text;
    const Data data = data_of(program, variable.data, offset);
    if (data.scalar && is_only_named(*program.facts.lookup(name, offset), whole))
      parts_.emplace(name, "xmp_part_" + name);
  }
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
  for (const ReductionVariable& variable : clause_.variables) {
    const Data data = data_of(program_, variable.data, offset_);
    const std::string& name = variable.data.name.text;
    const std::string type = "__typeof__(" + data.first + ") ", saved = "xmp_saved_" + name;
    if (const auto part = parts_.find(name); part != parts_.end()) {
      // A variable of the same name, whose address nobody takes.
      declarations += " " + type + part->second + " = " + name + ";";
      blocks += " " + type + name + " = " + (neutral != nullptr ? neutral : part->second) + ";";
    } else if (neutral != nullptr) {
      declarations += " " + type + saved + "[" + data.count + "];" +
                      each(data, "{ " + saved + "[xmp_k] = (&" + data.first + ")[xmp_k]; (&" +
                                     data.first + ")[xmp_k] = " + neutral + "; }");
    }
  }
  return declarations + " {" + blocks;
}

std::string LoopReduction::after(const std::string& on) const {
  std::string text;
  for (const auto& [name, part] : parts_) text += " " + part + " = " + name + ";";
  text += " }" + reduce_calls(program_, clause_, offset_, on, "0", parts_, downwards_);
  const bool neutral = neutral_of(clause_.operation).value != nullptr;
  for (const ReductionVariable& variable : clause_.variables) {
    const Data data = data_of(program_, variable.data, offset_);
    const std::string& name = variable.data.name.text;
    if (const auto part = parts_.find(name); part != parts_.end()) {
      text += " " + name + " = " +
              (neutral ? combined(clause_.operation, name, part->second) : part->second) + ";";
    } else if (neutral) {
      const std::string target = "(&" + data.first + ")[xmp_k]";
      text += each(data, target + " = " +
                             combined(clause_.operation, "xmp_saved_" + name + "[xmp_k]", target) +
                             ";");
    }
  }
  return text;
}

}  // namespace nagaya::xmp
