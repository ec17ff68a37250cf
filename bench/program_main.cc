// SPDX-License-Identifier: BSD-3-Clause
#include "program_main.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace nagaya::bench {

struct CommandLine::Parser {
  CLI::App app;
};

CommandLine::CommandLine(const char* description, const char* name, Options& options)
    : name_(name), parser_(new Parser{CLI::App(description, name)}) {
  CLI::App& app = parser_->app;
  app.add_flag("--json", options.json, "Print JSON instead of a table");
  app.add_flag("--quick", options.quick, "Few, short rounds: to see that it works");
  app.add_option("--rounds", options.rounds, "Interleaved rounds")->check(CLI::PositiveNumber);
  app.add_flag("--corrupt", options.corrupt, "Falsify data: the data check must then fail");
}

CommandLine::~CommandLine() = default;

void CommandLine::add_flag(const char* name, bool& value, const char* help) {
  parser_->app.add_flag(name, value, help);
}

void CommandLine::add_action(const char* name, std::function<void()> act, const char* help) {
  parser_->app.add_flag_callback(name, std::move(act), help);
}

void CommandLine::add_number(const char* name, int& value, int least, int most, const char* help) {
  parser_->app.add_option(name, value, help)->check(CLI::Range(least, most))->capture_default_str();
}

void CommandLine::add_word(const char* name, std::string& value, const char* help) {
  parser_->app.add_option(name, value, help)->required();
}

void CommandLine::add_choice(const char* name, std::string& value,
                             const std::vector<std::string>& words) {
  parser_->app.add_option(name, value)->required()->check(CLI::IsMember(words));
}

void CommandLine::add_words(const char* name, std::vector<std::string>& values, const char* help) {
  parser_->app.add_option(name, values, help)->delimiter(',');
}

void CommandLine::add_sizes(const char* name, std::vector<size_t>& values, size_t most,
                            const char* help) {
  parser_->app.add_option(name, values, help)->delimiter(',')->check(CLI::Range(size_t{1}, most));
}

void CommandLine::parse(int argc, char** argv) {
  try {
    parser_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(parser_->app.exit(error));
  }
}

int run_program(CommandLine& line, const Options& options, int argc, char** argv,
                const std::function<Result()>& measure) {
  line.parse(argc, argv);
  try {
    print(measure(), options.json);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", line.name(), error.what());
    return 2;
  }
}

}  // namespace nagaya::bench
