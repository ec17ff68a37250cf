// SPDX-License-Identifier: BSD-3-Clause
#include "driver/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

extern char** environ;

namespace nagaya::xmp {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

volatile std::sig_atomic_t interruption = 0;  // the signal's number; 0: none has come

int wait_for(pid_t child) {
  int status = 0;
  do
    if (interruption != 0) ::kill(child, interruption);
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int start(const std::vector<std::string>& words, const posix_spawn_file_actions_t* actions,
          char** environment, pid_t& child) {
  if (interruption != 0) return EINTR;
  const int error = ::posix_spawnp(&child, words[0].c_str(), actions, nullptr,
                                   pointers(words).data(), environment);
  if (error != 0)
    std::fprintf(stderr, "xmpcc: cannot start %s: %s\n", words[0].c_str(), std::strerror(error));
  return error;
}

struct Pipe {
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw std::system_error(errno, std::generic_category(), "pipe");
  }
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  void close_writer() {
    ::close(ends[1]);
    ends[1] = -1;
  }
  int ends[2] = {-1, -1};
};

void read_both(int first, int second, std::string& into_first, std::string& into_second) {
  pollfd polled[] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
  std::string* into[] = {&into_first, &into_second};
  char buffer[4096];
  for (int open = 2; open > 0;) {
    if (::poll(polled, 2, -1) < 0 && (errno != EINTR || interruption != 0)) return;
    for (int i = 0; i < 2; ++i) {
      if (polled[i].revents == 0) continue;
      const ssize_t got = ::read(polled[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        into[i]->append(buffer, static_cast<size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        polled[i].fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

void catch_interruptions() {
  struct sigaction caught = {};
  caught.sa_handler = [](int signal) { interruption = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    // Ignored signals stay ignored: a shell's background jobs ignore SIGINT, nohup's SIGHUP.
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(signal, &caught, nullptr);
  }
}

bool is_interrupted() {
  return interruption != 0;
}

void raise_interruption() {
  std::signal(interruption, SIG_DFL);
  std::raise(interruption);
}

int run(const std::vector<std::string>& words) {
  pid_t child = 0;
  return start(words, nullptr, environ, child) != 0 ? 127 : wait_for(child);
}

Captured capture(const std::vector<std::string>& words) {
  Captured captured{127, "", ""};
  Pipe output, errors;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output.ends[1], 1);
  ::posix_spawn_file_actions_adddup2(&actions, errors.ends[1], 2);
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::strncmp(*variable, "LC_ALL=", 7) != 0) environment.push_back(*variable);
  std::string locale = "LC_ALL=C";
  environment.push_back(locale.data());
  environment.push_back(nullptr);
  pid_t child = 0;
  const int error = start(words, &actions, environment.data(), child);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return captured;
  output.close_writer();
  errors.close_writer();
  read_both(output.ends[0], errors.ends[0], captured.output, captured.errors);
  captured.status = wait_for(child);
  return captured;
}

const std::string& TemporaryFolder::path() {
  if (!path_.empty()) return path_;
  std::string made = (std::filesystem::temp_directory_path() / "xmpcc-XXXXXX").string();
  if (::mkdtemp(made.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make the folder " + made);
  return path_ = made;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace nagaya::xmp
