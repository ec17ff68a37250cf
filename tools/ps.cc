// SPDX-License-Identifier: BSD-3-Clause
// ps.cc - `nagaya ps`: the jobs of this user on this node, and their tasks.
#include <fmt/core.h>

#include <memory>

#include "job_text.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

struct PsOptions {
  bool json = false;
  bool addresses = false;
};

int show(const PsOptions& options) {
  const std::vector<JobSocket> sockets = ask_all_sockets();
  fmt::print("{}", options.json ? json_text(sockets) : table_text(sockets, options.addresses));
  return 0;
}

}  // namespace

void add_ps(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("ps", "Show your jobs on this node and their tasks");
  auto options = std::make_shared<PsOptions>();
  command->add_flag("--json", options->json, "Print all that is known as JSON");
  command->add_flag("-l,--long", options->addresses, "Show the addresses of partitions too");
  command->callback([&action, options] { action = [options] { return show(*options); }; });
}

}  // namespace nagaya::tools
