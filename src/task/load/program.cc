// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/same_content.h"
#include "task/load/elf_image.h"
#include "task/load/installation.h"

extern char** environ;

namespace nagaya::task {
namespace {

namespace fs = std::filesystem;
constexpr const char* kPythonLauncher = "nagaya-python";
using base::Error;

constexpr int kInterpretersMax = 4;  // the kernel's limit: a script's interpreter may be a script
constexpr size_t kFirstLineMaxBytes = 256;  // of a script; the kernel's BINPRM_BUF_SIZE

// One mm has one mmap_lock: malloc that trims and maps on every large block was 75 times slower
// in a space than in separate processes; with these settings it is as fast for all sizes
// (measured, docs/tasks.md). A user's own malloc settings are respected.
constexpr char kMallocSettings[] =
    "glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=17179869184:"
    "glibc.malloc.top_pad=67108864";

void add_malloc_settings(std::vector<std::string>& environment) {
  const std::string prefix = "GLIBC_TUNABLES=";
  for (std::string& variable : environment) {
    if (!variable.starts_with(prefix)) continue;
    if (variable.find("glibc.malloc.") == std::string::npos)
      variable += (variable.size() == prefix.size() ? "" : ":") + std::string(kMallocSettings);
    return;
  }
  environment.push_back(prefix + kMallocSettings);
}

[[noreturn]] void cannot_run(const std::string& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  throw Error(missing ? -ENOENT : -error,
              path + ": " + (missing ? "no such program" : std::strerror(error)));
}

// Says how to run a file of the working folder that was named as if it were in PATH; else "".
std::string cure_for(const std::string& command) {
  struct stat about;
  if (::stat(command.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return "";
  return std::string(" in PATH; for the file in this folder: ") +
         (command.ends_with(".py") ? "python3 " : "./") + command;
}

void check_executable(const std::string& path) {
  struct stat about;
  if (::stat(path.c_str(), &about) != 0) cannot_run(path, errno);
  if (S_ISDIR(about.st_mode)) cannot_run(path, EISDIR);
  if (!S_ISREG(about.st_mode)) cannot_run(path, EACCES);
  if (::access(path.c_str(), X_OK) != 0) cannot_run(path, errno);
}

// Returns the first line of the file, up to the length that the kernel reads.
std::string first_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) cannot_run(path, EACCES);
  std::string begin(kFirstLineMaxBytes, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.substr(0, begin.find_first_of(std::string_view("\n\0", 2)));
}

// Returns the words after `#!` (at most two, split as by the kernel); empty if the file is no
// script.
std::vector<std::string> script_interpreter(const std::string& path) {
  const std::string line = first_line(path);
  if (!line.starts_with("#!")) return {};
  std::istringstream words(line.substr(2));
  std::string interpreter, argument;
  words >> interpreter >> std::ws;
  std::getline(words, argument);
  while (!argument.empty() && std::isspace(static_cast<unsigned char>(argument.back())))
    argument.pop_back();
  if (interpreter.empty()) throw Error(-ENOEXEC, path + ": script names no interpreter after #!");
  if (line.size() == kFirstLineMaxBytes && line.ends_with(interpreter) && argument.empty())
    throw Error(-ENOEXEC, path + ": the name of its interpreter after #! is too long");
  if (argument.empty()) return {interpreter};
  return {interpreter, argument};
}

// Recognises `#!/usr/bin/env python3`. env would leave the space by exec, so its argument is
// taken as the interpreter.
bool is_env(const std::vector<std::string>& words) {
  return words.size() == 2 && fs::path(words[0]).filename() == "env" &&
         words[1].find_first_of(" =") == std::string::npos && words[1].front() != '-';
}

// Returns the file of the interpreter that `words` name; removes `env` from them.
std::string find_interpreter(const std::string& script, std::vector<std::string>& words,
                             const std::vector<std::string>& environment) {
  try {
    if (is_env(words)) {
      words.erase(words.begin());
      return find_program(words[0], environment);
    }
    check_executable(words[0]);
    return words[0];
  } catch (const Error& error) {
    throw Error(-ENOEXEC, script + ": bad interpreter " + error.what());
  }
}

void check_can_be_task(const ElfImage& image) {
  if (!image.position_independent())
    throw Error(-ENOEXEC, image.path +
                              ": not position-independent, rebuild it with -pie (or, a program "
                              "of MPI, use `nagaya run --separate`)");
  if (image.sanitized)
    throw Error(-ENOEXEC, image.path +
                              ": built with a sanitizer, which must have its address space "
                              "for itself; a program of MPI: use `nagaya run --separate`");
}

// Checks the interpreter in the client, because the host's message would not name the program.
void check_interpreter(const ElfImage& image) {
  if (image.interpreter.empty()) return;
  try {
    if (read_elf(image.interpreter).position_independent()) return;
    throw Error(-ENOEXEC, image.interpreter + ": not position-independent");
  } catch (const Error& error) {
    throw Error(-ENOEXEC, image.path + ": its interpreter " + error.what());
  }
}

}  // namespace

const char* environment_value(const std::vector<std::string>& environment, const char* name) {
  const size_t length = std::strlen(name);
  for (const std::string& variable : environment)
    if (variable.compare(0, length, name) == 0 && variable.size() > length &&
        variable[length] == '=')
      return variable.c_str() + length + 1;
  return nullptr;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  return all;
}

std::string find_program(const std::string& command, const std::vector<std::string>& environment) {
  if (command.empty()) throw Error(-ENOENT, "no program is named");
  if (command.find('/') != std::string::npos) {
    check_executable(command);
    return command;
  }
  const char* path = environment_value(environment, "PATH");
  // The added colon keeps an empty last entry, which means the working folder, as anywhere in PATH.
  std::istringstream folders((path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin") +
                             std::string(":"));
  std::string folder;
  int error = ENOENT;
  while (std::getline(folders, folder, ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + command;
    struct stat about;
    if (::stat(candidate.c_str(), &about) != 0 || S_ISDIR(about.st_mode)) continue;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    error = EACCES;
  }
  if (error == ENOENT) throw Error(-ENOENT, command + ": no such program" + cure_for(command));
  cannot_run(command, error);
}

ProgramText resolve_interpreter(const std::string& command,
                                const std::vector<std::string>& arguments,
                                const std::vector<std::string>& environment) {
  std::string path = find_program(command, environment);
  ProgramText text{"", command, arguments, environment, fs::path(path).filename()};
  for (int depth = 0;; ++depth) {
    std::vector<std::string> words = script_interpreter(path);
    if (words.empty()) break;
    if (depth == kInterpretersMax) throw Error(-ELOOP, path + ": too many interpreters");
    const std::string interpreter = find_interpreter(path, words, environment);
    text.name = words[0];
    text.arguments.insert(text.arguments.begin(), path);
    text.arguments.insert(text.arguments.begin(), words.begin() + 1, words.end());
    path = interpreter;
  }
  text.program = path;
  return text;
}

ProgramText resolve_program(const std::string& command, const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment) {
  ProgramText text = resolve_interpreter(command, arguments, environment);
  const std::string path = text.program;
  const ElfImage image = read_elf(fs::canonical(path));
  text.program = image.path;
  if (!image.position_independent() && is_python(text)) {
    text.program = installed_program(kPythonLauncher);
    text.name = path;  // Python finds its library and a virtual environment by argv[0]
  } else {
    check_can_be_task(image);
    check_interpreter(image);
  }
  add_malloc_settings(text.environment);
  return text;
}

namespace {

bool is_name_of_python(const std::string& file) {
  return file.starts_with("python3") || file == "python" || file == kPythonLauncher;
}

}  // namespace

bool is_python(const ProgramText& text) {
  return is_name_of_python(fs::canonical(text.program).filename());
}

std::string shown_command(const ProgramText& text) {
  constexpr size_t kBytesMax = 256;
  if (!is_name_of_python(fs::path(text.program).filename())) return text.program;
  std::string words = text.name;
  for (const std::string& argument : text.arguments)
    if (words.size() < kBytesMax) words += " " + argument;
  return words.substr(0, kBytesMax);
}

ProgramText ProgramCache::resolve(const std::string& command,
                                  const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& environment) {
  struct stat now;
  const std::string path = command.starts_with('/')
                               ? command
                               : fs::absolute(find_program(command, environment)).string();
  const bool is_there = ::stat(path.c_str(), &now) == 0;
  const auto known = is_there ? known_.find(path) : known_.end();
  if (known != known_.end() && base::is_same_content(known->second.file, now)) {
    ProgramText text = known->second.text;
    text.name = command;
    text.arguments = arguments;
    text.environment = environment;
    add_malloc_settings(text.environment);
    return text;
  }
  ProgramText text = resolve_program(command, arguments, environment);
  const bool is_itself = text.name == command && !is_python(text);
  if (is_there && is_itself) {
    ProgramText without = text;
    without.arguments.clear();
    without.environment.clear();
    known_[path] = {now, without};
  }
  return text;
}

}  // namespace nagaya::task
