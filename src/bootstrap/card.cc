// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/card.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "task/space/space.h"

namespace nagaya::bootstrap {
namespace {

// The head of an encoded card; the text follows it.
struct Head {
  uint32_t magic;
  uint16_t major;
  uint16_t reserved;
  uint64_t space;
  uint32_t task;
  uint32_t window;
  uint64_t tuning;
  int32_t error;
  uint32_t text_bytes;
};

}  // namespace

std::string encode(const Card& card) {
  const Head head{task::kMagic, task::kAbiMajor, 0,
                  card.space,   card.task,       card.window,
                  card.tuning,  card.error,      static_cast<uint32_t>(card.text.size())};
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + card.text;
}

Card decode_card(const std::string& bytes) {
  Head head{};
  std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof head));
  if (head.magic != task::kMagic || head.major != task::kAbiMajor || head.reserved != 0 ||
      head.error > 0 || bytes.size() != sizeof head + uint64_t{head.text_bytes})
    throw base::Error(-EPROTO, "a process of the job uses another version of nagaya");
  return {head.space, head.task, head.window, head.tuning, head.error, bytes.substr(sizeof head)};
}

}  // namespace nagaya::bootstrap
