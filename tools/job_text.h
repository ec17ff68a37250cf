// SPDX-License-Identifier: BSD-3-Clause
// job_text.h - the output of `nagaya ps`.
#pragma once

#include <string>
#include <vector>

#include "job_sockets.h"

namespace nagaya::tools {

// For people; with the addresses of partitions or without.
std::string table_text(const std::vector<JobSocket>& sockets, bool with_addresses);
// For programs: all that is known.
std::string json_text(const std::vector<JobSocket>& sockets);

}  // namespace nagaya::tools
