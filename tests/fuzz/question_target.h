// SPDX-License-Identifier: BSD-3-Clause
// question_target.h - the host reads any bytes as a question to its delegatee.
#pragma once

#include "delegatee/question.h"
#include "targets.h"

namespace nagaya::fuzz {

inline void decode_question_payload(const uint8_t* data, size_t bytes) {
  const std::string payload(reinterpret_cast<const char*>(data), bytes);
  try {
    const delegatee::Question question = delegatee::decode_question(payload);
    if (delegatee::encode(question) != payload) std::abort();
    for (const std::string& variable : question.variables) delegatee::passes(variable);
  } catch (const base::Error& error) {
    if (error.code() != -EPROTO) undocumented(error);
  }
}

}  // namespace nagaya::fuzz
