// SPDX-License-Identifier: BSD-3-Clause
#include "command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.h"
#include "base/plain_path.h"
#include "task/load/program.h"

namespace nagaya::tools {

std::vector<char*> argv_of(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
}

std::string output_of(const std::vector<std::string>& words, Errors errors) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) base::throw_errno("pipe");
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, writer.get(), 1);
  if (errors == Errors::kIncluded)
    ::posix_spawn_file_actions_adddup2(&files, writer.get(), 2);
  else
    ::posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, words[0].c_str(), &files, nullptr, argv_of(words).data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) return "";
  writer.reset();
  std::string output;
  char piece[4096];
  for (ssize_t got = 1; got != 0;) {
    got = ::read(reader.get(), piece, sizeof piece);
    if (got > 0) output.append(piece, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return output;
}

std::string shell_word(const std::string& text) {
  if (!text.empty() && base::is_plain(text)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string name_in(const std::string& directory, const std::string& name) {
  const std::string here = (directory.empty() ? "." : directory) + "/" + name;
  if (name.empty() || name[0] == '/') return name;
  if (name.find('/') != std::string::npos) return directory.empty() ? name : here;
  try {
    task::find_program(name, task::own_environment());
    return name;
  } catch (const base::Error&) {
    const bool is_here =
        ::access(here.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(here);
    return is_here ? here : name;
  }
}

}  // namespace nagaya::tools
