// SPDX-License-Identifier: BSD-3-Clause
// facts.cc - reads the facts about this machine that the checks of `nagaya doctor` need.
#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <fstream>

#include "doctor/doctor.h"

namespace nagaya::tools::doctor {
namespace {

std::optional<uint64_t> number_in(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos || text[begin] < '0' || text[begin] > '9') return std::nullopt;
  return std::strtoull(text.c_str() + begin, nullptr, 10);
}

std::optional<uint64_t> finite(rlim_t limit) {
  return limit == RLIM_INFINITY ? std::nullopt : std::optional<uint64_t>(limit);
}

rlimit limit_of(int resource) {
  rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  return limit;
}

}  // namespace

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<uint64_t> first_number(const std::string& path) {
  const auto line = first_line(path);
  return line ? number_in(*line) : std::nullopt;
}

std::optional<uint64_t> field_number(const std::string& path, const std::string& field) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(field + ":")) return number_in(line.substr(field.size() + 1));
  return std::nullopt;
}

std::optional<uint64_t> soft_limit(int resource) {
  return finite(limit_of(resource).rlim_cur);
}

std::optional<uint64_t> hard_limit(int resource) {
  return finite(limit_of(resource).rlim_max);
}

int try_in_child(const std::function<int()>& attempt) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::_exit(attempt());
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

bool loads(const std::string& library) {
  return try_in_child([&] { return ::dlopen(library.c_str(), RTLD_LAZY) == nullptr ? 1 : 0; }) == 0;
}

uint64_t rounded_up(uint64_t number) {
  return std::bit_ceil(number);
}

std::string sysctl_command(const std::string& name, uint64_t value) {
  return fmt::format("sudo sysctl -w {}={}", name, value);
}

}  // namespace nagaya::tools::doctor
