// SPDX-License-Identifier: BSD-3-Clause
// question.h - requests that tasks make to their host by the join protocol (task/host/wire.h). The
// task that speaks for its node asks first for the contact of the node's delegatee, then to connect
// that delegatee to the delegatees of the other nodes. Any task gives the host an open file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nagaya::delegatee {

struct Question {
  enum class Kind : uint32_t { kContact, kConnect, kFile };

  Kind kind = Kind::kContact;
  std::vector<std::string> variables;  // kContact: those of the task's variables for which passes()
                                       // is true; the host itself has an empty environment
  uint32_t self = 0;                   // kConnect: this node; kFile: the number of the asking task,
                                       // which sends the file's descriptor
  std::vector<std::string> contacts;   // kConnect: of all nodes
};

// Whether a task's variable (NAME=VALUE) is for its host: libfabric's and the delegatee's options.
bool passes(const std::string& variable);

std::string encode(const Question& question);
// Throws base::Error -EPROTO when it is malformed.
Question decode_question(const std::string& bytes);

}  // namespace nagaya::delegatee
