// SPDX-License-Identifier: BSD-3-Clause
// command_line.h - the words of a C compiler's command line, sorted by what they are for. Words
// that are not known here are flags for the compiler behind.
#pragma once

#include <string>
#include <vector>

namespace nagaya::xmp {

struct Input {
  size_t position;       // in words
  bool c_source;         // else an object, a library, another language
  bool compiled;         // else for the linker alone
  std::string language;  // of -x before it; empty: by its name
};

struct CommandLine {
  enum Result { kProgram, kObject, kAssembly, kPreprocessed, kOther };

  std::vector<std::string> words;  // all but xmpcc's own
  Result result = kProgram;        // kOther: a question to the compiler behind
  std::vector<Input> inputs;
  std::string output;  // of -o
  std::string standard;
  std::vector<std::string> preprocessor;  // -D -U -I ... as clang -cc1 takes them
  std::vector<std::string> flags;  // neither inputs nor -o, -c, -S, -M*, preprocessor's, linker's
  std::vector<std::string> dependencies;     // -MD, -MF name, ...
  std::vector<std::string> library_folders;  // of -L

  // xmpcc's own
  std::string cc;  // --cc=PROGRAM
  bool check = false, emit_c = false, help = false, version = false;
};

// Throws std::runtime_error: a word lacks its argument, a file of @words cannot be read.
CommandLine parse_command_line(std::vector<std::string> words);

}  // namespace nagaya::xmp
