// SPDX-License-Identifier: BSD-3-Clause
#include "proxy/program_role.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "task/load/dynamic_object.h"

namespace nagaya::tools {
namespace {

using task::DynamicObject;
using task::LibrarySearch;

// Shells are known by name: they start programs that no argument names.
constexpr std::array<std::string_view, 12> kShells{
    "sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh", "fish", "csh", "tcsh", "busybox"};

// Launchers start ranks of jobs of their own: these stand for no rank of this job.
constexpr std::array<std::string_view, 11> kLaunchers{
    "nagaya", "mpirun", "mpiexec", "orterun",       "prterun",        "prun",
    "orted",  "prted",  "srun",    "mpiexec.hydra", "hydra_pmi_proxy"};

constexpr std::array kStartingFunctions{"execve", "execv",       "execvp",       "execvpe",
                                        "execl",  "execlp",      "execle",       "fexecve",
                                        "system", "posix_spawn", "posix_spawnp", "popen"};

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string resolved(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  const std::string found = real != nullptr ? real : path;
  ::free(real);
  return found;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_executable_file(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// Returns the executable file that the word names, directly or by PATH; "" if it names none.
std::string executable_of(const std::string& word, const std::string& path) {
  if (word.empty() || word[0] == '-') return "";
  if (word.find('/') != std::string::npos) return is_executable_file(word) ? word : "";
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string file = path.substr(begin, end - begin) + "/" + word;
    if (is_executable_file(file)) return file;
    begin = end + 1;
  }
  return "";
}

// Returns the executable files among the first arguments.
std::vector<std::string> executables_of(const std::vector<std::string>& arguments,
                                        const std::vector<std::string>& environment) {
  constexpr size_t kArgumentsMax = 32;
  std::string path;
  for (const std::string& variable : environment)
    if (variable.starts_with("PATH=")) path = variable.substr(5);
  std::vector<std::string> files;
  for (size_t n = 0; n < std::min(arguments.size(), kArgumentsMax); ++n)
    if (std::string file = executable_of(arguments[n], path); !file.empty())
      files.push_back(std::move(file));
  return files;
}

struct Needs {
  bool mpi = false, nagaya = false;  // `nagaya` is not looked for where it needs an MPI

  bool communicates() const { return mpi || nagaya; }
};

Needs needs_of(const DynamicObject& program, LibrarySearch& search) {
  Needs needs;
  needs.mpi = search.needs(program, [&needs](const std::string& name, const std::string&) {
    needs.nagaya = needs.nagaya || name.starts_with("libnagaya");
    return is_mpi_library(name);
  });
  return needs;
}

// Returns true for a program that loads libraries at run time, so perhaps an MPI. An interpreter
// may be a mere front of its library: a program that has few names of its own counts with the
// libraries that it needs directly. (ls has many, and needs libselinux, which loads others.)
bool loads_libraries(const DynamicObject& program, LibrarySearch& search) {
  constexpr auto kNamesOfFrontMax = 32;
  const auto loads = [](const DynamicObject& object) {
    return object.has_name("dlopen") || object.has_name("dlmopen");
  };
  if (loads(program)) return true;
  if (std::count(program.strings.begin(), program.strings.end(), '\0') > kNamesOfFrontMax)
    return false;
  return std::any_of(program.needed.begin(), program.needed.end(), [&](const std::string& name) {
    if (task::is_of_libc(name)) return false;  // it defines the function
    const auto library = search.find(name, program, program);
    return library && loads(*library);
  });
}

bool starts_programs(const DynamicObject& program) {
  return std::any_of(kStartingFunctions.begin(), kStartingFunctions.end(),
                     [&](const char* name) { return program.has_name(name); });
}

}  // namespace

bool is_nagaya_exec(const std::string& program, const std::vector<std::string>& arguments) {
  return arguments.size() > 1 && arguments[0] == "exec" && file_name(resolved(program)) == "nagaya";
}

bool is_mpi_library(std::string_view name) {
  constexpr std::array kBeginnings{"libmpi.", "libmpi_", "libmpich", "libmpicxx", "libmpifort"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](const char* beginning) { return name.starts_with(beginning); });
}

Guess guess_role(const std::string& program, const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment) {
  const std::string file = resolved(program);
  const auto object = task::read_dynamic_object(file);
  if (!object) return {};
  if (is_among(kLaunchers, file_name(file))) return {Role::kOverseer, ""};
  if (is_among(kShells, file_name(file))) return {Role::kWrapper, ""};
  LibrarySearch search(environment);
  // A debugger or profiler follows its children as processes.
  const bool is_tracer = object->has_name("ptrace");
  if (!is_tracer) {
    const Needs needs = needs_of(*object, search);
    const bool may_load_mpi = needs.mpi || loads_libraries(*object, search);
    if (needs.communicates() || may_load_mpi)
      return {Role::kCommunicating, needs.communicates() ? program : "",
              may_load_mpi ? object->interpreter : ""};
  }
  Guess guess;
  if (is_tracer)
    guess.role = Role::kOverseer;
  else if (object->is_static())
    guess.role = Role::kCommunicating;  // for all that its file tells
  else if (!starts_programs(*object))
    return {};
  for (const std::string& started : executables_of(arguments, environment)) {
    if (guess.role == Role::kOther) guess.role = Role::kWrapper;
    const auto other = task::read_dynamic_object(started);
    if (guess.mpi_program.empty() && other && needs_of(*other, search).communicates())
      guess.mpi_program = started;
  }
  return guess;
}

}  // namespace nagaya::tools
