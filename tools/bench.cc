// SPDX-License-Identifier: BSD-3-Clause
// bench.cc - `nagaya bench`: hands over to the benchmark driver of this installation.
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "command.h"
#include "subcommands.h"
#include "task/load/installation.h"

namespace nagaya::tools {

int bench_command(const Words& arguments) {
  const std::string driver = task::installed_program("bench/driver.py");
  if (!std::filesystem::exists(driver))
    throw base::Error(-ENOENT,
                      "this installation has no benchmarks: install Debian's package nagaya-bench, "
                      "or build Nagaya from its sources");
  Words words{"/usr/bin/python3", driver};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ::execv(words[0].c_str(), argv_of(words).data());
  base::throw_errno("cannot run " + driver);
}

}  // namespace nagaya::tools
