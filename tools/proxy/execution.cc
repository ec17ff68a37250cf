// SPDX-License-Identifier: BSD-3-Clause
// execution.cc - `nagaya-execute`: executes a program in the stead of a rank's process that has
// called execve (load/freestanding/execution.h). Where the program may be the rank's, or start it,
// `nagaya execute` tries to start it as a task. A static program of its own, because a script may
// execute a thousand others: `nagaya` takes 2 ms to start.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/fd.h"
#include "proxy/program_role.h"

extern char** environ;

namespace nagaya::tools {
namespace {

constexpr int kFixedWords = 3;  // itself, the host's socket, the program

std::vector<std::string> words_of(char** words) {
  std::vector<std::string> all;
  for (; *words != nullptr; ++words) all.emplace_back(*words);
  return all;
}

bool is_script(const char* path) {
  const base::Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  char begin[2];
  return file && ::read(file.get(), begin, sizeof begin) == sizeof begin &&
         std::memcmp(begin, "#!", sizeof begin) == 0;
}

// Returns true if the program has a part in the rank, or its user is to be told that it has none.
bool concerns_rank(const char* path, char** words) {
  const std::vector<std::string> arguments = words_of(words);
  if (is_script(path) || is_nagaya_exec(path, arguments)) return true;
  const Guess guess = guess_role(path, arguments, words_of(environ));
  return guess.role == Role::kWrapper || guess.role == Role::kCommunicating ||
         !guess.mpi_program.empty();
}

// Becomes `nagaya execute`, with the same words. Returns if it is not installed.
void become_tool(char** words) {
  std::string path(words[0]);  // PREFIX/libexec/nagaya/nagaya-execute
  for (int n = 0; n < 3; ++n) path.resize(path.rfind('/') + 1 == 0 ? 0 : path.rfind('/'));
  path += "/bin/nagaya";
  std::vector<char*> all{const_cast<char*>("nagaya"), const_cast<char*>("execute")};
  for (++words; *words != nullptr; ++words) all.push_back(*words);
  all.push_back(nullptr);
  ::execv(path.c_str(), all.data());
}

}  // namespace
}  // namespace nagaya::tools

int main(int argc, char** argv) {
  using namespace nagaya::tools;
  constexpr int kCannotRun = 126, kNotFound = 127;
  if (argc <= kFixedWords) {
    std::fputs("nagaya-execute: a part of nagaya run and nagaya exec, which start it\n", stderr);
    return kCannotRun;
  }
  char* const path = argv[kFixedWords - 1];
  if (concerns_rank(path, argv + kFixedWords + 1)) become_tool(argv);
  ::execv(path, argv + kFixedWords);
  std::fprintf(stderr, "nagaya: %s: %s\n", path, std::strerror(errno));
  return errno == ENOENT ? kNotFound : kCannotRun;
}
