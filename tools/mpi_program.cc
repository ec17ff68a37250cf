// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_program.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>

#include "task/elf_image.h"
#include "task/program.h"

namespace nagaya::tools {
namespace {

namespace fs = std::filesystem;

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  if (pipe == nullptr) return "";
  std::string output;
  std::array<char, 4096> piece;
  while (const size_t got = ::fread(piece.data(), 1, piece.size(), pipe.get()))
    output.append(piece.data(), got);
  return output;
}

// The file that `path` would load for a library whose name begins with `name`, "" for none.
// `ld.so --list` prints "\tlibmpi.so.40 => /lib/.../libmpi.so.40 (0x...)".
std::string loaded_library(const std::string& path, const std::string& name) {
  const task::ElfImage image = task::read_elf(path);
  std::string linker = image.interpreter;
  if (linker.empty()) {  // a shared library such as mpi4py's: the linker of this command serves
    linker = task::read_elf("/proc/self/exe").interpreter;
  }
  std::istringstream lines(
      output_of(shell_word(linker) + " --list " + shell_word(path) + " 2>/dev/null"));
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t");
    const size_t arrow = line.find(" => ");
    if (begin == std::string::npos || arrow == std::string::npos ||
        line.compare(begin, name.size(), name) != 0)
      continue;
    return line.substr(arrow + 4, line.rfind(" (") - arrow - 4);
  }
  return "";
}

// The extension module through which this Python would use an MPI, "" when it has no mpi4py.
std::string python_mpi_module(const std::string& python) {
  std::string module = output_of(shell_word(python) +
                                 " -c 'import importlib.util as u; s = u.find_spec(\"mpi4py\") and "
                                 "u.find_spec(\"mpi4py.MPI\"); "
                                 "print(s.origin if s else \"\")' 2>/dev/null");
  while (!module.empty() && module.back() == '\n') module.pop_back();
  return module;
}

bool is_launcher_of(MpiKind kind, const std::string& launcher) {
  const std::string version = output_of(shell_word(launcher) + " --version 2>/dev/null </dev/null");
  if (kind == MpiKind::kOpenMpi)
    return version.find("Open MPI") != std::string::npos ||
           version.find("OpenRTE") != std::string::npos ||
           version.find("PRTE") != std::string::npos;
  return version.find("HYDRA") != std::string::npos;
}

// First in the bin folders above the library (an MPI of the user's own), then in PATH.
std::string find_launcher(const MpiProgram& mpi) {
  const std::string suffix = mpi.kind == MpiKind::kOpenMpi ? ".openmpi" : ".mpich";
  std::vector<std::string> candidates;
  for (fs::path folder = fs::canonical(mpi.library).parent_path(); folder != folder.root_path();
       folder = folder.parent_path())
    for (const std::string& name : {std::string("mpirun"), "mpirun" + suffix})
      candidates.push_back(folder / "bin" / name);
  const auto environment = task::own_environment();
  for (const std::string& name :
       {"mpirun" + suffix, std::string("mpirun"), std::string("mpiexec")}) {
    try {
      candidates.push_back(task::find_program(name, environment));
    } catch (const base::Error&) {
      continue;  // not in PATH: the next name
    }
  }
  for (const std::string& candidate : candidates)
    if (::access(candidate.c_str(), X_OK) == 0 && is_launcher_of(mpi.kind, candidate))
      return candidate;
  throw base::Error(-ENOENT, "the program uses " + mpi.library +
                                 ", but its mpirun is not found: "
                                 "install it or put it into PATH");
}

}  // namespace

MpiProgram find_mpi(const task::ProgramText& text) {
  std::string user = text.program;
  if (fs::path(text.name).filename().string().starts_with("python3"))
    user = python_mpi_module(text.name);
  MpiProgram mpi;
  if (user.empty()) return mpi;
  mpi.library = loaded_library(user, "libmpi");
  const std::string name = fs::path(mpi.library).filename();
  if (mpi.library.empty()) return mpi;
  // libmpi.so.12 and libmpich.so.12 are MPICH's ABI, libmpi.so.40 Open MPI's.
  const bool mpich = name.starts_with("libmpich") || name.starts_with("libmpi.so.12");
  mpi.kind = mpich ? MpiKind::kMpich : MpiKind::kOpenMpi;
  mpi.launcher = find_launcher(mpi);
  return mpi;
}

}  // namespace nagaya::tools
