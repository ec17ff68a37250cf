// SPDX-License-Identifier: BSD-3-Clause
// machine.h - the machine on which a benchmark runs, the commit of the program, and its processors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nagaya::bench {

struct Machine {
  std::string cpu, kernel, libc, commit;
  int cores = 0;
};
Machine this_machine();

// Returns the folder of the running program; the other benchmark programs lie there too.
std::filesystem::path program_folder();

// Returns the processors that this process might use before it bound itself, in ascending order.
const std::vector<int>& usable_processors();

// Binds the calling thread to one processor.
void bind_to(int processor);

}  // namespace nagaya::bench
