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

std::string each(const Data& data, const std::string& body) {
  return " for (long xmp_k = 0; xmp_k < " + data.count + "; ++xmp_k) " + body;
}

}  // namespace

// Unique in the block of the loop.
std::string Reducer::saved_name(size_t i) const {
  return "xmp_saved_" + clause_.variables[i].data.name.text;
}

std::string Reducer::set_aside() const {
  const Neutral neutral = neutral_of(clause_.operation);
  if (neutral.value == nullptr) return "";
  std::string text;
  for (size_t i = 0; i < clause_.variables.size(); ++i) {
    const Data data = data_of(program_, clause_.variables[i].data, offset_);
    const std::string type = "__typeof__(" + data.first + ")", name = saved_name(i);
    if (data.scalar)
      text += " " + type + " " + name + " = " + data.first + "; " + data.first + " = " +
              neutral.value + ";";
    else
      text += " " + type + " " + name + "[" + data.count + "];" +
              each(data, "{ " + name + "[xmp_k] = (&" + data.first + ")[xmp_k]; (&" + data.first +
                             ")[xmp_k] = " + neutral.value + "; }");
  }
  return text;
}

std::string Reducer::add_again() const {
  const Neutral neutral = neutral_of(clause_.operation);
  if (neutral.value == nullptr) return "";
  std::string text;
  for (size_t i = 0; i < clause_.variables.size(); ++i) {
    const Data data = data_of(program_, clause_.variables[i].data, offset_);
    const std::string target = data.scalar ? data.first : "(&" + data.first + ")[xmp_k]";
    const std::string saved = saved_name(i) + (data.scalar ? "" : "[xmp_k]");
    // Of a logical operation both sides are truth values.
    const bool logical = clause_.operation == ReductionOperation::kXor;
    const std::string sum =
        logical ? "!" + saved + " != !" + target : saved + " " + neutral.operation + " " + target;
    const std::string assignment = target + " = " + sum + ";";
    text += data.scalar ? " " + assignment : each(data, assignment);
  }
  return text;
}

std::string Reducer::calls(const std::string& on, const std::string& async) const {
  std::string text;
  for (const ReductionVariable& variable : clause_.variables) {
    const Data data = data_of(program_, variable.data, offset_);
    std::vector<std::string> locations;
    for (const Token& location : variable.locations) {
      const Data found = data_of(program_, {location, {}, {}, {}}, offset_);
      locations.push_back("{" + found.address + ", " + found.bytes() + "}");
    }
    text +=
        " nagaya_xmp_reduce(" +
        list({where(clause_.place), operation_name(clause_.operation),
              program_.facts.lookup(variable.data.name.text, offset_)->reduction_type, data.address,
              data.count, std::to_string(locations.size()),
              locations.empty() ? "0" : "(const nagaya_xmp_location[]){" + list(locations) + "}",
              on, async}) +
        ");";
  }
  return text;
}

}  // namespace nagaya::xmp
