// SPDX-License-Identifier: BSD-3-Clause
#include "proxy/lone_ranks.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "launch/mpi_program.h"
#include "mpi_library.h"
#include "observe/process_files.h"
#include "proxy/job.h"
#include "proxy/program_role.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

const char* name_of(LauncherKind launcher) {
  switch (launcher) {
    case LauncherKind::kOpenMpi:
      return "Open MPI's mpirun";
    case LauncherKind::kMpich:
      return "MPICH's mpiexec (hydra)";
    case LauncherKind::kSlurm:
      return "srun";
    case LauncherKind::kNone:
      break;
  }
  return "no launcher";
}

// Reads the variables that the program gets.
struct Variables {
  const task::ProgramText& text;

  const char* value(const char* name) const {
    return task::environment_value(text.environment, name);
  }
  bool has(const char* name) const { return value(name) != nullptr; }
  bool is(const char* name, std::string_view wanted) const {
    return has(name) && value(name) == wanted;
  }
  bool has_pmix() const { return has("PMIX_NAMESPACE"); }
  bool has_pmi() const { return has("PMI_FD") || has("PMI_PORT"); }
};

// Returns whether the launcher speaks a language of this MPI.
bool is_served(const MpiLibrary& mpi, const Variables& variables, LauncherKind launcher) {
  const bool has_pmix = variables.has_pmix(), has_pmi = variables.has_pmi();
  if (mpi.is_open_mpi ? has_pmix : has_pmi) return true;
  if (!mpi.is_open_mpi && (mpi.has_pmi_library || variables.has("I_MPI_PMI_LIBRARY"))) return true;
  if (launcher != LauncherKind::kSlurm) return false;
  // With srun Intel MPI speaks PMIx, too, and some builds of Open MPI before 5 speak PMI-2. (Other
  // builds of it end with an error.)
  const MpiRelease release = release_of(mpi);
  return mpi.is_open_mpi ? has_pmi && release.version < "5"
                         : has_pmix && release.name == "Intel MPI";
}

std::string right_launcher(const MpiLibrary& mpi, LauncherKind launcher) {
  if (launcher == LauncherKind::kSlurm)
    return mpi.is_open_mpi ? "srun --mpi=pmix" : "srun --mpi=pmi2";
  try {
    return launcher_of_mpi(mpi).path;
  } catch (const base::Error&) {
    return "the mpirun of that MPI";
  }
}

// Returns the MPI that the program would load; none if that is not known: the start of the program
// will tell why.
std::optional<MpiLibrary> mpi_if_known(const task::ProgramText& text) {
  try {
    return mpi_of_program(text);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Returns the program of the rank: of a wrapper the one that it starts, if that needs an MPI.
task::ProgramText program_of_rank(const task::ProgramText& text, const Guess& guess) {
  task::ProgramText program = text;
  if (!guess.mpi_program.empty()) program.program = program.name = guess.mpi_program;
  return program;
}

bool is_launcher(std::string_view command) {
  constexpr std::string_view kBeginnings[] = {
      "mpirun", "mpiexec", "orterun", "orted", "prterun", "prted", "hydra_pmi_proxy", "slurmstepd"};
  return std::ranges::any_of(
      kBeginnings, [&](std::string_view beginning) { return command.starts_with(beginning); });
}

}  // namespace

void tell_of_lone_rank(task::ProgramText& text, const Guess& guess, const LaunchedJob& job) {
  constexpr const char* kExamined = "NAGAYA_RANK_EXAMINED";
  if (Variables{text}.has(kExamined)) return;
  const task::ProgramText program = program_of_rank(text, guess);
  const std::optional<std::string> line = lone_rank(program, job);
  // Python has mpi4py, but may start the rank's program.
  if (!line || (line->empty() && task::is_python(program))) return;
  if (!line->empty()) complain(*line);
  text.environment.push_back(std::string(kExamined) + "=1");
}

std::optional<std::string> lone_rank(const task::ProgramText& text, const LaunchedJob& job) {
  const Variables variables{text};
  if (job.local_rank < 0 && variables.is("PMIX_RANK", "1"))
    return text.name +
           ": its launcher speaks PMIx, but is none that nagaya exec knows: each process is alone "
           "in a space of its own; start them by mpirun, srun or nagaya run";
  if (variables.is("OMPI_COMM_WORLD_RANK", "0") && variables.is("PMI_RANK", "1"))
    return text.name +
           ": two launchers have started it, one inside the other: it is rank 0 by "
           "OMPI_COMM_WORLD_RANK, as nagaya exec takes it, and rank 1 by PMI_RANK; start it by one "
           "of them";
  const bool speaks_with_all = variables.has_pmix() && variables.has_pmi();  // nagaya run
  if (job.ranks <= 1 || job.local_rank != 0 || speaks_with_all) return std::nullopt;
  const std::optional<MpiLibrary> mpi = mpi_if_known(text);
  if (!mpi) return std::nullopt;
  if (is_served(*mpi, variables, job.launcher)) return "";
  return fmt::format(
      "{}{} uses {} ({}), but {} has started it, which does not speak to that MPI: each of the {} "
      "ranks is alone in a job of one rank; start them by {}, or by nagaya run -n {}",
      task::is_python(text) ? "mpi4py of " : "", text.name, release_of(*mpi).name, mpi->path,
      name_of(job.launcher), job.ranks, right_launcher(*mpi, job.launcher), job.ranks);
}

void tell_of_missing_pmix(const std::vector<std::string>& command) try {
  const auto mpi = mpi_of_command(command);
  if (mpi && mpi->is_open_mpi)
    complain(
        command[0] + " uses Open MPI (" + mpi->path +
        "), but libpmix.so.2, by which nagaya run speaks to it, is missing: each rank is alone "
        "in a job of one rank; install it (Debian: libpmix2)");
} catch (const base::Error&) {
  // The start of the program will tell what is wrong with it.
}

void tell_of_lost_variables(const task::ProgramText& text, const Guess& guess, int64_t rank) {
  const task::ProgramText program = program_of_rank(text, guess);
  if (rank != 1 || !mpi_if_known(program)) return;
  complain(program.name +
           ": the variables by which the launcher tells each rank of the others are gone: each is "
           "alone in a job of one rank; keep PMIX_*, PMI_* and OMPI_* in the environment");
}

void tell_of_lone_job(const LaunchedJob& job) {
  if (job.ranks <= 1 || job.local_rank != 0 || !is_launcher(command_name(::getppid()))) return;
  complain(fmt::format(
      "{} has started nagaya run {} times, and each starts a job of its own; for one job say "
      "nagaya exec in place of nagaya run, or leave out the launcher",
      name_of(job.launcher), job.ranks));
}

}  // namespace nagaya::tools
