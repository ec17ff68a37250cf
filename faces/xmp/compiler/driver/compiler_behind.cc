// SPDX-License-Identifier: BSD-3-Clause
#include "driver/compiler_behind.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "driver/process.h"

namespace nagaya::xmp {
namespace {

namespace fs = std::filesystem;

// Returns the program's path, searched for in PATH if the name has no slash; empty: not found.
fs::path found_by_path(const std::string& program) {
  if (program.find('/') != std::string::npos)
    return ::access(program.c_str(), X_OK) == 0 ? program : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder) / program;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

// Returns a line with the first error that the compiler has printed, and what xmpcc knows about it.
std::string describe_refusal(const std::vector<std::string>& flags, const std::string& printed) {
  const size_t error = printed.find(" error: ");
  if (error == std::string::npos) return "the compiler behind refuses these flags:\n" + printed;
  const size_t begin = printed.rfind('\n', error) + 1;
  std::string said = printed.substr(begin, printed.find('\n', error) - begin);
  constexpr size_t kAlike = 4;  // equal letters of a misspelt option
  for (const std::string& flag : flags)
    for (const std::string own : {"--cc=PROGRAM", "--check", "--emit-c"})
      if (flag.starts_with(own.substr(0, kAlike)))
        return said.substr(0, said.find("; did you mean")) + "; did you mean xmpcc's own " + own +
               "?";
  return said + "; xmpcc's own options: xmpcc --help";
}

}  // namespace

CompilerBehind::CompilerBehind(const std::string& wished) {
  std::string named = wished;
  if (const char* variable = std::getenv("XMPCC_CC"); named.empty() && variable != nullptr)
    named = variable;
  is_named_ = !named.empty();
  if (named.empty()) {
    for (const char* usual : {"gcc", "clang-14", "clang-19", "clang"})
      if (named.empty() && !found_by_path(usual).empty()) named = usual;
    if (named.empty())
      throw std::runtime_error(
          "found neither gcc nor clang; install one, or name a compiler by --cc=PROGRAM");
  }
  std::istringstream stream(named);
  for (std::string word; stream >> word;) words_.push_back(word);
  const fs::path program = words_.empty() ? "" : found_by_path(words_[0]);
  if (program.empty())
    throw std::runtime_error("the compiler \"" + named +
                             "\" is not there; --cc or XMPCC_CC names it");
  std::error_code ignored;
  if (fs::equivalent(program, "/proc/self/exe", ignored))
    throw std::runtime_error(
        "the compiler behind xmpcc cannot be xmpcc; --cc or XMPCC_CC names it");
}

std::vector<std::string> CompilerBehind::with(const std::vector<std::string>& more) const {
  std::vector<std::string> words = words_;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

CompilerView CompilerBehind::view(const std::vector<std::string>& flags) const {
  std::vector<std::string> words = with(flags);
  words.insert(words.end(), {"-E", "-dM", "-v", "-x", "c", "/dev/null"});
  const Captured captured = capture(words);
  if (captured.status != 0) throw std::runtime_error(describe_refusal(flags, captured.errors));
  CompilerView view;
  // A wrapper such as MPICH's mpicc answers -v with a line of its own on standard output.
  std::istringstream macros(captured.output);
  for (std::string line; std::getline(macros, line);)
    if (line.starts_with("#")) view.macros += line + '\n';
  std::istringstream lines(captured.errors);
  bool listing = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Target: ")) view.triple = line.substr(8);
    if (line.starts_with("End of search list")) listing = false;
    if (listing && !line.empty()) view.folders.push_back(line.substr(line.find_first_not_of(' ')));
    if (line.starts_with("#include <...> search")) listing = true;
  }
  return view;
}

}  // namespace nagaya::xmp
