// SPDX-License-Identifier: BSD-3-Clause
// program_main.h - the main() that all benchmark programs share.
#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "figure.h"

namespace nagaya::bench {

// Adds the options that every benchmark program has.
inline void add_options(CLI::App& app, Options& options) {
  app.add_flag("--json", options.json, "Print JSON instead of a table");
  app.add_flag("--quick", options.quick, "Few, short rounds: to see that it works");
  app.add_option("--rounds", options.rounds, "Interleaved rounds")->check(CLI::PositiveNumber);
  app.add_flag("--corrupt", options.corrupt, "Falsify data: the data check must then fail");
}

// Parses, measures, prints. Exit code 2: could not measure, or data was wrong.
template <class Measure>
int run_program(CLI::App& app, const Options& options, int argc, char** argv, Measure measure) {
  CLI11_PARSE(app, argc, argv);
  try {
    print(measure(), options.json);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), error.what());
    return 2;
  }
}

}  // namespace nagaya::bench
