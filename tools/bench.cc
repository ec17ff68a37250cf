// SPDX-License-Identifier: BSD-3-Clause
// bench.cc - `nagaya bench`: hands over to the benchmark driver of this installation.
#include <unistd.h>

#include <memory>

#include "base/error.h"
#include "task/installation.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

int bench(const std::vector<std::string>& arguments) {
  const std::string driver = task::installed_program("bench/driver.py");
  std::vector<std::string> words{"/usr/bin/python3", driver};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ::execv(words[0].c_str(), argv_of(words).data());
  base::throw_errno("cannot run " + driver);
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* bench_command = app.add_subcommand(
      "bench", "Measure against bars: `bench list | all | NAME... | report | tune`");
  auto arguments = std::make_shared<std::vector<std::string>>();
  bench_command->prefix_command()->allow_extras();
  bench_command->set_help_flag();  // the driver has its own
  bench_command->callback([&action, arguments, bench_command] {
    *arguments = bench_command->remaining();
    action = [arguments] { return bench(*arguments); };
  });
}

}  // namespace nagaya::tools
