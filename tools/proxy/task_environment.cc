// SPDX-License-Identifier: BSD-3-Clause
#include "proxy/task_environment.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "base/plain_path.h"
#include "faces/mpi/environment.h"
#include "task/load/dynamic_object.h"
#include "task/load/upper_settings.h"

#include <nagaya/task.h>

namespace nagaya::tools {
namespace {

// Returns the empty path if it leads nowhere.
std::filesystem::path resolved(const std::string& path) {
  std::error_code is_missing;
  return std::filesystem::canonical(path, is_missing);
}

// Returns the dynamic linker of this command: it belongs to the libc that Nagaya was built with.
const std::filesystem::path& own_linker() {
  static const std::filesystem::path linker = [] {
    const auto command = task::read_dynamic_object("/proc/self/exe");
    return command ? resolved(command->interpreter) : std::filesystem::path();
  }();
  return linker;
}

}  // namespace

void set_variable(std::vector<std::string>& environment, const std::string& variable) {
  const std::string name = variable.substr(0, variable.find('=') + 1);
  const auto old = std::find_if(environment.begin(), environment.end(),
                                [&](const std::string& other) { return other.starts_with(name); });
  if (old != environment.end())
    *old = variable;
  else
    environment.push_back(variable);
}

void make_environment_of_task(std::vector<std::string>& environment) {
  task::add_upper_settings(environment);
  const char* const wish = task::environment_value(environment, "NAGAYA_BLACS");
  if (wish == nullptr || std::string_view(wish) == "off") return;
  if (std::string_view(wish) != "on")
    throw base::Error(-EINVAL, std::string("NAGAYA_BLACS=") + wish + " is not on or off");
  Dl_info libnagaya;
  if (::dladdr(reinterpret_cast<void*>(&nagaya_task_self), &libnagaya) == 0)
    base::throw_errno("NAGAYA_BLACS: libnagaya", ENOENT);
  const std::filesystem::path folder =
      std::filesystem::canonical(libnagaya.dli_fname).parent_path();
  const std::filesystem::path library = folder / "libnagaya-blacs.so.0";
  if (!std::filesystem::exists(library))
    throw base::Error(-ENOENT, "NAGAYA_BLACS=on: " + library.string() +
                                   " is missing; install Nagaya where ScaLAPACK is installed");
  // ld.so splits the value at blanks and colons, and ignores a library that it does not find.
  const std::string preload = base::PathLinks::own().plain_path(library);
  const char* const old = task::environment_value(environment, "LD_PRELOAD");
  if (old == nullptr)
    set_variable(environment, "LD_PRELOAD=" + preload);
  else if (!std::string_view(old).starts_with(preload))  // else: a rank that starts a program
    set_variable(environment, "LD_PRELOAD=" + preload + ":" + old);
}

bool can_load_face(const Guess& guess) {
  return !guess.linker_of_mpi.empty() && resolved(guess.linker_of_mpi) == own_linker();
}

void preload_mpi_face(task::ProgramText& text, const Guess& guess) {
  if (can_load_face(guess)) mpi::preload_face(text.environment);
}

std::vector<std::string> environment_of_task() {
  std::vector<std::string> environment = task::own_environment();
  make_environment_of_task(environment);
  return environment;
}

}  // namespace nagaya::tools
