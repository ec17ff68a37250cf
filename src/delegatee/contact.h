// SPDX-License-Identifier: BSD-3-Clause
// contact.h - the contacts that a node's delegatees send to those of the other nodes of its job, by
// way of the launcher: each one's address, and its part of the secret by which they know each other
// (proof.h). Delegatee n of a node talks to delegatee n of each other node; delegatees that not all
// nodes have are not started. To everybody in between a node's contacts are opaque bytes:
//
//   | version of the batches: 1 byte | for each delegatee: secret, 32 | bytes of the address: 2 |
//   address |
#pragma once

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

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

inline std::string encode(const std::vector<Contact>& contacts) {
  std::string bytes(1, static_cast<char>(kBatchVersion));
  for (const Contact& contact : contacts) {
    bytes.append(contact.secret.begin(), contact.secret.end());
    bytes += static_cast<char>(contact.address.size() >> 8);
    bytes += static_cast<char>(contact.address.size());
    bytes += contact.address;
  }
  return bytes;
}

// Returns one contact or more. Throws base::Error -EPROTO: malformed, or of another version.
inline std::vector<Contact> decode_contacts(const std::string& bytes) {
  if (bytes.empty() || bytes[0] != static_cast<char>(kBatchVersion))
    throw base::Error(-EPROTO, "a node of the job uses another version of nagaya");
  const base::Error malformed(-EPROTO, "malformed contact");
  std::vector<Contact> contacts;
  for (size_t at = 1; at < bytes.size();) {
    Contact& contact = contacts.emplace_back();
    const size_t address_at = at + contact.secret.size() + 2;
    if (bytes.size() < address_at) throw malformed;
    std::memcpy(contact.secret.data(), bytes.data() + at, contact.secret.size());
    const size_t address_bytes = static_cast<unsigned char>(bytes[address_at - 2]) << 8 |
                                 static_cast<unsigned char>(bytes[address_at - 1]);
    if (bytes.size() - address_at < address_bytes) throw malformed;
    contact.address = bytes.substr(address_at, address_bytes);
    at = address_at + address_bytes;
  }
  if (contacts.empty()) throw malformed;
  return contacts;
}

}  // namespace nagaya::delegatee
