// SPDX-License-Identifier: BSD-3-Clause
// program.cc - examines a program: can it be a task, which MPI would it load, how is it launched,
// and do its messages go through the space?
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "command.h"
#include "doctor/doctor.h"
#include "faces/mpi/environment.h"
#include "faces/openmpi/environment.h"
#include "launch/mpi_program.h"
#include "mpi_library.h"
#include "proxy/program_role.h"
#include "proxy/task_environment.h"
#include "task/load/dynamic_object.h"
#include "task/load/program.h"

namespace nagaya::tools::doctor {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string shell_words(Words words) {
  for (std::string& word : words) word = shell_word(word);
  return fmt::format("{}", fmt::join(words, " "));
}

// Returns the words of the program that a wrapper or an overseer starts, as its arguments tell.
Words started_by(const Words& command) {
  for (auto word = command.begin() + 1; word != command.end(); ++word) try {
      task::find_program(*word, task::own_environment());
      return {word, command.end()};
    } catch (const base::Error&) {
      continue;  // an option, or an argument of one
    }
  return {};
}

// The program that a command names.
struct Program {
  Words command;
  task::ProgramText text;
  std::optional<MpiLibrary> mpi = {};
  MpiRelease release = {};
};

Finding what_it_is(const Program& program) {
  const std::string file =
      fs::canonical(task::find_program(program.command[0], task::own_environment()));
  std::string text = file + " runs as a task";
  if (fs::canonical(program.text.program) != file) text += ", by " + program.text.program;
  const Role role = guess_role(program.text).role;
  if (role != Role::kWrapper && role != Role::kOverseer) return {Level::kOk, text, ""};
  const Words started = started_by(program.command);
  text += fmt::format("; it starts {}, which {}", started.empty() ? "a program" : started[0],
                      role == Role::kWrapper ? "becomes a task, too" : "is an ordinary process");
  return {role == Role::kOverseer ? Level::kWarning : Level::kOk, text,
          "nagaya doctor " + (started.empty() ? "PROGRAM" : shell_words(started))};
}

// Returns the shared libraries that the program's dynamic linker does not find for it.
Words missing_libraries(const Program& program) {
  const auto object = task::read_dynamic_object(program.text.program);
  const auto own = task::read_dynamic_object("/proc/self/exe");
  // Another linker, which the program's file may name at will, could run anything.
  if (!object || !own || object->interpreter != own->interpreter) return {};
  std::istringstream lines(output_of(
      {"env", "LD_TRACE_LOADED_OBJECTS=1", object->interpreter, program.text.program}));  // as ldd
  constexpr std::string_view kMissing = " => not found";
  Words missing;
  for (std::string line; std::getline(lines, line);)
    if (const size_t end = line.find(kMissing); end != std::string::npos)
      missing.push_back(line.substr(1, end - 1));  // behind a tab
  return missing;
}

Finding its_libraries(const Program& program, const Words& missing) {
  return {Level::kProblem,
          fmt::format("{}, which {} needs, {} not found", fmt::join(missing, ", "),
                      program.command[0], missing.size() == 1 ? "is" : "are"),
          "export LD_LIBRARY_PATH=FOLDER:$LD_LIBRARY_PATH"};
}

Finding its_mpi(const Program& program) {
  if (program.mpi)
    return {Level::kOk, fmt::format("{}: {}", program.release.text(), program.mpi->path), ""};
  if (task::is_python(program.text))
    return {Level::kOk, fmt::format("none: {} has no mpi4py that finds an MPI", program.text.name),
            ""};
  return {Level::kOk, "none found: it may load one later, or start a program that does", ""};
}

Finding on_one_node(const Program& program) {
  if (!program.mpi)
    return {Level::kOk,
            "nagaya run starts it itself; an MPI that it loads finds its ranks over PMIx or PMI-1",
            ""};
  if (!program.mpi->is_open_mpi) return {Level::kOk, "nagaya run starts it itself, over PMI-1", ""};
  if (loads("libpmix.so.2")) return {Level::kOk, "nagaya run starts it itself, over PMIx", ""};
  return {Level::kProblem,
          "nagaya run cannot start it itself: that needs PMIx, and libpmix.so.2 is missing",
          "sudo apt-get install libpmix2"};
}

Finding on_several_hosts(const Program& program) try {
  const Launcher launcher = program.mpi ? launcher_of_mpi(*program.mpi) : launcher_among_hosts();
  return {Level::kOk, "nagaya run --hosts starts it by " + launcher.path, ""};
} catch (const base::Error& error) {
  return {Level::kWarning, error.what(),
          program.mpi ? "export PATH=(the folder of its mpirun):$PATH"
                      : "sudo apt-get install openmpi-bin"};
}

// Returns what the face does for an MPI that our components do not fit.
Finding by_face(const Program& program) {
  const std::string own = fmt::format("through {}'s own transports", program.release.text());
  if (!mpi::is_known_library(fs::path(program.mpi->path).filename().native()))
    return {Level::kWarning, own + ": nagaya does not know the binary interface of this library",
            ""};
  if (!can_load_face(guess_role(program.text)))
    return {Level::kWarning,
            own +
                ": nagaya's library is not loaded into this program, which has another libc or "
                "traces others",
            ""};
  return {Level::kOk, fmt::format("through the space within a node, between nodes {}", own), ""};
}

Finding its_messages(const Program& program) {
  if (mpi::reach_in(task::own_environment(), mpi::Reach::kNode) == mpi::Reach::kNone)
    return {
        Level::kWarning,
        fmt::format("through {}'s own transports, because NAGAYA_MPI is off", program.release.name),
        "unset NAGAYA_MPI"};
  if (!program.mpi->is_open_mpi || !openmpi::has_components_for(program.release.version))
    return by_face(program);
  return {Level::kOk,
          "through the space within a node, and between nodes with NAGAYA_MPI=on, by nagaya's "
          "components",
          ""};
}

// Examines the MPI of a program that can be a task.
void examine_mpi(Program& program, std::vector<NamedFinding>& findings) try {
  program.mpi = mpi_of_program(program.text);
  if (program.mpi) program.release = release_of(*program.mpi);
  findings.push_back({"MPI", its_mpi(program)});
  findings.push_back({"one node", on_one_node(program)});
  findings.push_back({"several hosts", on_several_hosts(program)});
  if (program.mpi) findings.push_back({"messages", its_messages(program)});
} catch (const base::Error& error) {
  findings.push_back({"MPI", {Level::kProblem, error.what(), "export LD_LIBRARY_PATH=FOLDER"}});
}

// Whether the content of the program's file has the name of a function of the BLACS.
bool has_blacs_inside(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.view().find("blacs_gridinit_") != std::string_view::npos;
}

// Returns whose BLACS the program calls; nullopt: none that its files tell of.
std::optional<Finding> its_blacs(const Program& program) {
  const auto object = task::read_dynamic_object(program.text.program);
  if (!object) return std::nullopt;
  std::string found;
  task::LibrarySearch search(program.text.environment);
  search.needs(*object, [&](const std::string&, const std::string& path) {
    const auto library = task::read_dynamic_object(path);
    if (library && library->has_name("blacs_gridinit_")) found = path;
    return !found.empty();
  });
  if (fs::path(found).filename().native().starts_with("libnagaya-blacs"))
    return Finding{Level::kOk, "Nagaya's, linked with the program: " + found, ""};
  if (!found.empty())
    return Finding{
        Level::kOk,
        found + "'s; nagaya run --blacs replaces it, and with NAGAYA_MPI_VERBOSE=1 says so", ""};
  if (!has_blacs_inside(program.text.program)) return std::nullopt;
  return Finding{Level::kWarning,
                 "linked statically: the program keeps it, and nagaya run --blacs changes nothing",
                 "link ScaLAPACK's shared library, or -lnagaya-blacs before it"};
}

// Returns what keeps the program from being a task, and what may be done instead.
Finding refusal(const base::Error& error, const Words& command, const Need& need) {
  if (error.code() != -ENOEXEC) return {Level::kProblem, error.what(), ""};
  return {Level::kProblem, error.what(),
          fmt::format("nagaya run --separate -n {} {}", need.tasks, shell_words(command))};
}

}  // namespace

std::vector<NamedFinding> examine_program(const Words& command, const Need& need) try {
  Program program{command, task::resolve_program(command[0], {command.begin() + 1, command.end()},
                                                 environment_of_task())};
  std::vector<NamedFinding> findings = {{"program", what_it_is(program)}};
  if (const Words missing = missing_libraries(program); !missing.empty())
    findings[0].finding = its_libraries(program, missing);
  examine_mpi(program, findings);
  if (const auto finding = its_blacs(program)) findings.push_back({"BLACS", *finding});
  return findings;
} catch (const base::Error& error) {
  return {{"program", refusal(error, command, need)}};
}

}  // namespace nagaya::tools::doctor
