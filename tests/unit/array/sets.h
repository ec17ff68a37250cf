// SPDX-License-Identifier: BSD-3-Clause
// sets.h - sets of processes for tests.
#pragma once

#include <memory>
#include <vector>

#include "processes/node_tables.h"
#include "processes/process_set.h"

namespace nagaya::array {

inline std::shared_ptr<const processes::ProcessSet> set_of(
    const std::vector<nagaya_process>& processes, uint32_t rank) {
  static auto* const node = new processes::NodeTables;
  return std::make_shared<const processes::ProcessSet>(node->store(), processes, rank);
}

}  // namespace nagaya::array
