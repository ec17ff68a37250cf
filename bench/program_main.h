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

// The program's name, options and arguments. parse() sets the values that the command line gives;
// the others keep their defaults.
class CommandLine {
 public:
  // Adds the options that every benchmark program has.
  CommandLine(const char* description, const char* name, Options& options);
  ~CommandLine();

  const std::string& name() const { return name_; }
  void add_flag(const char* name, bool& value, const char* help);
  void add_action(const char* name, std::function<void()> act, const char* help);
  void add_number(const char* name, int& value, int least, int most, const char* help);
  void add_word(const char* name, std::string& value, const char* help);
  // An argument that must be given, and be one of `words`.
  void add_choice(const char* name, std::string& value, const std::vector<std::string>& words);
  // Lists, with commas between their items.
  void add_words(const char* name, std::vector<std::string>& values, const char* help);
  void add_sizes(const char* name, std::vector<size_t>& values, size_t most, const char* help);

  // Ends the program after --help, or if the command line is wrong.
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
