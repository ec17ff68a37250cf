// SPDX-License-Identifier: BSD-3-Clause
// program_main.h - the command line and the main() that all benchmark programs share. CLI11 takes
// ten seconds to compile, so one file includes it, and no program does.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "figure.h"

namespace nagaya::bench {

// The program's name, options and arguments. Values are set by parse(), and keep what they had
// otherwise.
class CommandLine {
 public:
  // Has the options that every benchmark program has.
  CommandLine(const char* description, const char* name, Options& options);
  ~CommandLine();

  const std::string& name() const { return name_; }
  void add_flag(const char* name, bool& value, const char* help);
  void add_action(const char* name, std::function<void()> act, const char* help);
  void add_number(const char* name, int& value, int least, int most, const char* help);
  // One of `words`, without which there is nothing to measure.
  void add_choice(const char* name, std::string& value, const std::vector<std::string>& words);
  // Lists, with commas between their items.
  void add_words(const char* name, std::vector<std::string>& values, const char* help);
  void add_sizes(const char* name, std::vector<size_t>& values, size_t most, const char* help);

  // Ends the program when it is asked for help, or the words are wrong.
  void parse(int argc, char** argv);

 private:
  struct Parser;
  const std::string name_;
  const std::unique_ptr<Parser> parser_;
};

// Parses, measures, prints. Exit code 2: could not measure, or data was wrong.
int run_program(CommandLine& line, const Options& options, int argc, char** argv,
                const std::function<Result()>& measure);

}  // namespace nagaya::bench
