// SPDX-License-Identifier: BSD-3-Clause
// software.cc - finds the MPIs and the Python that jobs on this machine will use.
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/error.h"
#include "command.h"
#include "doctor/doctor.h"
#include "faces/openmpi/environment.h"
#include "task/load/elf_image.h"
#include "task/load/program.h"

namespace nagaya::tools::doctor {
namespace {

namespace fs = std::filesystem;

// One MPI: the mark by which the output of its launcher's --version is recognised, the text before
// the number in it, and whether the number is that of a release of Open MPI.
struct Mpi {
  const char* name;
  const char* mark;
  const char* before_number;  // after the mark, or the mark's own end
  bool is_open_mpi;
};

constexpr Mpi kMpis[] = {
    {"Open MPI", "(Open MPI)", ")", true},
    {"Open MPI", "(OpenRTE)", ")", true},
    {"PRRTE", "(PRRTE)", ")", false},
    {"MPICH", "HYDRA", "Version:", false},
    {"Intel MPI", "Intel(R) MPI Library", "Version", false},
};

// Returns "4.1.4" for "mpirun (Open MPI) 4.1.4"; "" if the text is of another MPI.
std::string version_of(const Mpi& mpi, const std::string& text) {
  const size_t mark = text.find(mpi.mark);
  const size_t before = mark == std::string::npos ? mark : text.find(mpi.before_number, mark);
  if (before == std::string::npos) return "";
  const size_t begin = text.find_first_of("0123456789", before);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

std::string describe(const std::string& launcher) {
  const std::string text = output_of({launcher, "--version"}, Errors::kIncluded);
  for (const Mpi& mpi : kMpis) {
    const std::string number = version_of(mpi, text);
    if (number.empty()) continue;
    const bool own = mpi.is_open_mpi && openmpi::has_components_for(number);
    return fmt::format("{} {} ({}, {})", mpi.name, number, launcher,
                       own ? "with nagaya's components" : "with nagaya's face of MPI");
  }
  return "";
}

// Returns the launchers in PATH, each file once.
std::map<fs::path, std::string> launchers() {
  std::map<fs::path, std::string> found;
  for (const char* name :
       {"mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra"}) {
    try {
      const std::string path = task::find_program(name, task::own_environment());
      found.emplace(fs::canonical(path), path);
    } catch (const std::exception&) {
      continue;  // not in PATH
    }
  }
  return found;
}

}  // namespace

Finding message_passing(const Need&) {
  std::string list;
  for (const auto& [file, launcher] : launchers())
    if (const std::string one = describe(launcher); !one.empty())
      list += (list.empty() ? "" : ", ") + one;
  if (list.empty()) return {Level::kOk, "no mpirun in PATH; programs without MPI need none", ""};
  return {Level::kOk, list, ""};
}

// Finds Python as python_launcher.c does.
Finding python(const Need&) {
  std::string program;
  try {
    program = fs::canonical(task::find_program("python3", task::own_environment()));
  } catch (const std::exception&) {
    return {Level::kOk, "no python3 in PATH", ""};
  }
  if (first_line(program).value_or("").starts_with("#!"))
    return {
        Level::kOk,
        program +
            " was not examined: it is a script, and may start another Python in each "
            "folder",
        "PATH=$(dirname $(python3 -c 'import sys; print(sys.executable)')):$PATH nagaya doctor"};
  if (task::read_elf(program).position_independent())
    return {Level::kOk, program + " runs as it is", ""};
  const std::string name = "lib" + fs::path(program).filename().string() + ".so.1.0";
  const fs::path beside = fs::path(program).parent_path() / "../lib" / name;
  if (loads(beside) || loads(name))
    return {Level::kOk, fmt::format("{} runs by way of {}", program, name), ""};
  return {Level::kWarning,
          fmt::format("{} is not position-independent, and {} is missing", program, name),
          fmt::format("sudo apt-get install {}", shell_word(name.substr(0, name.find(".so"))))};
}

}  // namespace nagaya::tools::doctor
