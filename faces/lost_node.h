// SPDX-License-Identifier: BSD-3-Clause
// lost_node.h - the message to the user when a node of the job is lost (nagaya_comm_watch_nodes).
#pragma once

#include <cstdint>
#include <string>

#include "nagaya/task.h"

namespace nagaya {

inline std::string text_of_lost_node(int64_t rank, int error) {
  return "the node of rank " + std::to_string(rank) +
         " cannot be reached any more: " + nagaya_strerror(error);
}

}  // namespace nagaya
