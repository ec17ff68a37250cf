// SPDX-License-Identifier: BSD-3-Clause
// ps.cc - `nagaya ps`: the jobs of this user on this node, and their tasks.
#include <fmt/core.h>

#include "observe/job_text.h"
#include "subcommands.h"

namespace nagaya::tools {

int ps_command(const PsOptions& options) {
  const std::vector<JobSocket> sockets = ask_all_sockets();
  fmt::print("{}", options.json ? json_text(sockets) : table_text(sockets, options.addresses));
  return 0;
}

}  // namespace nagaya::tools
