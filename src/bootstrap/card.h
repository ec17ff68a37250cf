// SPDX-License-Identifier: BSD-3-Clause
// card.h - the card that a process of a job publishes for the others before they can talk: its
// place, or why it cannot take part. Either way it publishes one: nobody waits for a process that
// has failed.
#pragma once

#include <cstdint>
#include <string>

namespace nagaya::bootstrap {

struct Card {
  uint64_t space = 0;   // random: the same for the tasks of one space only
  uint32_t task = 0;    // its number in the space
  uint32_t window = 0;  // the region of its node's window, if it speaks for its node; else 0
  uint64_t tuning = 0;  // digest of its table (llcl/requests/tuning.h): the same in the whole job
  int32_t error = 0;    // below 0: it has failed, and `text` says why
  std::string text;     // its node's contact (delegatee/contact.h), if it speaks for its node
};

std::string encode(const Card& card);
// Throws base::Error -EPROTO: not a card, or one of another version.
Card decode_card(const std::string& bytes);

}  // namespace nagaya::bootstrap
