// SPDX-License-Identifier: BSD-3-Clause
// command_line.h - the words of a C compiler's command line, sorted by their purpose. Words unknown
// to xmpcc are flags for the compiler behind.
#pragma once

#include <string>
#include <vector>

namespace nagaya::xmp {

struct Input {
  size_t position;       // index in CommandLine::words
  bool c_source;         // false: an object, a library, or a source in another language
  bool compiled;         // false: for the linker alone
  std::string language;  // argument of the -x before it; empty: the file's name decides
};

struct CommandLine {
  enum Result { kProgram, kObject, kAssembly, kPreprocessed, kOther };

  std::vector<std::string> words;  // all but xmpcc's own
  Result result = kProgram;        // kOther: the compiler behind answers (-v, --version, ...)
  std::vector<Input> inputs;
  std::string output;  // of -o
  std::string standard;
  std::vector<std::string> preprocessor;  // -D -U -I ... as clang -cc1 takes them
  std::vector<std::string> flags;         // all but inputs, -o, -c, -S, -M*, preprocessor, linker
  std::vector<std::string> dependencies;  // -MD, -MF name, ...
  std::vector<std::string> library_folders;  // of -L

  // xmpcc's own options
  std::string cc;  // --cc=PROGRAM
  bool check = false, emit_c = false, help = false, version = false;
};

// Throws std::runtime_error if a word lacks its argument or an @file of words cannot be read.
CommandLine parse_command_line(std::vector<std::string> words);

}  // namespace nagaya::xmp
