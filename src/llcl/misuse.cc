// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/misuse.h"

#include <cerrno>

namespace nagaya::llcl {

bool is_valid(const nagaya_completion& on_complete) {
  switch (on_complete.kind) {
    case NAGAYA_NONE:
      return true;
    case NAGAYA_FLAG:
      return on_complete.data != nullptr && is_aligned(on_complete.data, sizeof(uint32_t));
    case NAGAYA_COUNTER:
      return on_complete.data != nullptr && is_aligned(on_complete.data, sizeof(uint64_t));
    case NAGAYA_CALLBACK:
      return on_complete.function != nullptr;
    default:
      return false;
  }
}

int check_local(const task::SpaceHeader& space, const void* local, uint64_t bytes) {
  if (bytes == 0) return 0;
  const auto first = reinterpret_cast<uint64_t>(local);
  const int64_t holder = task::number_of(space, first);
  if (first + bytes < first || (holder >= 0 && task::number_of(space, first + bytes - 1) != holder))
    return -EINVAL;
  const auto* const all = static_cast<const volatile unsigned char*>(local);
  static_cast<void>(all[0]);
  static_cast<void>(all[bytes - 1]);
  return 0;
}

int set_place(Command* command, const nagaya_remote& place) {
  if (place.process.task > UINT16_MAX) return -EINVAL;
  command->node = place.process.node;
  command->task = static_cast<uint16_t>(place.process.task);
  command->region = place.region;
  command->offset = place.offset;
  return 0;
}

}  // namespace nagaya::llcl
