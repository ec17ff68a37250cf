// SPDX-License-Identifier: BSD-3-Clause
// job_text.h - the output of `nagaya ps`, and texts that it shares with `nagaya top`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "observe/job_sockets.h"

namespace nagaya::tools {

// Returns a table for people; with the addresses of partitions or without.
std::string table_text(const std::vector<JobSocket>& sockets, bool with_addresses);
// Returns "12.3 MiB" and its like; "-" if the size is not known.
std::string size_text(std::optional<uint64_t> bytes);
// Returns JSON for programs, with all that is known of the jobs.
std::string json_text(const std::vector<JobSocket>& sockets);

}  // namespace nagaya::tools
