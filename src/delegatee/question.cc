// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/question.h"

#include <cstring>

#include "base/error.h"
#include "delegatee/options.h"

namespace nagaya::delegatee {
namespace {

void append(std::string& bytes, uint32_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append(std::string& bytes, const std::vector<std::string>& texts) {
  append(bytes, static_cast<uint32_t>(texts.size()));
  for (const std::string& text : texts) {
    append(bytes, static_cast<uint32_t>(text.size()));
    bytes += text;
  }
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  uint32_t number() {
    uint32_t value;
    std::memcpy(&value, consume(sizeof value), sizeof value);
    return value;
  }
  std::string text() {
    const uint32_t length = number();
    return {consume(length), length};
  }
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (uint32_t left = number(); left > 0; --left) all.push_back(text());
    return all;
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  const char* consume(size_t count) {
    if (count > bytes_.size() - at_) throw base::Error(-EPROTO, "malformed question");
    at_ += count;
    return bytes_.data() + at_ - count;
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

}  // namespace

bool passes(const std::string& variable) {
  const bool is_libfabrics = variable.starts_with("FI_") && variable.find('=') != std::string::npos;
  return is_libfabrics || is_option(variable);
}

std::string encode(const Question& question) {
  std::string bytes;
  append(bytes, static_cast<uint32_t>(question.kind));
  append(bytes, question.variables);
  append(bytes, question.self);
  append(bytes, question.contacts);
  return bytes;
}

Question decode_question(const std::string& bytes) {
  Reader in(bytes);
  Question question;
  question.kind = static_cast<Question::Kind>(in.number());
  question.variables = in.texts();
  question.self = in.number();
  question.contacts = in.texts();
  const bool sensible =
      question.kind == Question::Kind::kContact || question.kind == Question::Kind::kFile ||
      (question.kind == Question::Kind::kConnect && question.self < question.contacts.size());
  if (!sensible || !in.at_end()) throw base::Error(-EPROTO, "malformed question");
  return question;
}

}  // namespace nagaya::delegatee
