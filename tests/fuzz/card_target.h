// SPDX-License-Identifier: BSD-3-Clause
// card_target.h - a process reads any bytes as the card of another process of its job.
#pragma once

#include "bootstrap/card.h"
#include "targets.h"

namespace nagaya::fuzz {

inline void decode_published_card(const uint8_t* data, size_t bytes) {
  const std::string shown(reinterpret_cast<const char*>(data), bytes);
  try {
    const bootstrap::Card card = bootstrap::decode_card(shown);
    if (bootstrap::encode(card) != shown || card.error > 0) std::abort();
  } catch (const base::Error& error) {
    if (error.code() != -EPROTO) undocumented(error);
  }
}

}  // namespace nagaya::fuzz
