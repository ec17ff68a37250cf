// SPDX-License-Identifier: BSD-3-Clause
// contact.h - the contact that a node's delegatee sends to those of the other nodes of its job, by
// way of the launcher: the version of its batches, its address, and its part of the secret by which
// they know each other (proof.h). To everybody in between a contact is opaque bytes.
#pragma once

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "delegatee/batch.h"

namespace nagaya::delegatee {

using Secret = std::array<unsigned char, 32>;

inline Secret new_secret() {
  Secret secret;
  base::fill_random(secret);
  return secret;
}

struct Contact {
  Secret secret;
  std::string address;  // fabric::Fabric::address()
};

inline std::string encode(const Contact& contact) {
  return static_cast<char>(kBatchVersion) +
         std::string(contact.secret.begin(), contact.secret.end()) + contact.address;
}

// Throws base::Error -EPROTO: too short, or of another version.
inline Contact decode_contact(const std::string& bytes) {
  Contact contact;
  if (bytes.empty() || bytes[0] != static_cast<char>(kBatchVersion))
    throw base::Error(-EPROTO, "a node of the job uses another version of nagaya");
  if (bytes.size() <= contact.secret.size()) throw base::Error(-EPROTO, "malformed contact");
  std::memcpy(contact.secret.data(), bytes.data() + 1, contact.secret.size());
  contact.address = bytes.substr(1 + contact.secret.size());
  return contact;
}

}  // namespace nagaya::delegatee
