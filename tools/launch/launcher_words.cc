// SPDX-License-Identifier: BSD-3-Clause
#include "launch/launcher_words.h"

#include <array>

#include "tool.h"

namespace nagaya::tools {
namespace {

using Words = std::vector<std::string>;
using Names = std::array<const char*, 3>;  // of mpirun, mpiexec and srun; nullptr: it has none

constexpr Names kLaunchers{"mpirun of Open MPI", "mpiexec of MPICH", "srun"};

// An option of `nagaya run`, with the value that was given; "": it was not given.
struct Option {
  const char* name;
  std::string value;
  Names names;
};

constexpr char kFlag[] = "(given)";

size_t index_of(LauncherKind kind) {
  return kind == LauncherKind::kOpenMpi ? 0 : kind == LauncherKind::kMpich ? 1 : 2;
}

Words variable_words(LauncherKind kind, const std::string& variable) {
  const size_t equals = variable.find('=');
  if (kind == LauncherKind::kOpenMpi) return {"-x", variable};
  return {"-env", variable.substr(0, equals), variable.substr(equals + 1)};
}

// srun passes its own environment on, so that a variable is set by env(1).
Words program_of_slurm(const Application& application) {
  Words words;
  if (!application.directory.empty()) words.push_back("--chdir=" + application.directory);
  if (!application.environment.empty()) words.push_back("env");
  words.insert(words.end(), application.environment.begin(), application.environment.end());
  return words;
}

}  // namespace

std::vector<std::string> job_words(LauncherKind kind, const LaunchChoice& choice) {
  const StreamOptions& streams = choice.streams;
  const auto flag = [](bool is_given) { return is_given ? kFlag : ""; };
  const std::array options{
      Option{"--bind-to", choice.binding.bind_to, {"--bind-to", "-bind-to", nullptr}},
      Option{"--map-by", choice.binding.map_by, {"--map-by", "-map-by", nullptr}},
      Option{"--report-bindings",
             flag(choice.reports_bindings),
             {"--report-bindings", nullptr, "--cpu-bind=verbose"}},
      Option{"--label", flag(streams.label), {"--tag-output", "-prepend-rank", "--label"}},
      Option{"--output", streams.output, {nullptr, "-outfile-pattern", nullptr}},
      Option{"--error", streams.errors, {nullptr, "-errfile-pattern", nullptr}},
      Option{"--stdin", streams.input == "0" ? "" : streams.input, {"--stdin", nullptr, "--input"}},
      Option{"--timeout",
             choice.time_limit ? std::to_string(choice.time_limit->count()) : "",
             {"--timeout", nullptr, nullptr}},
  };
  Words words;
  for (const Option& option : options) {
    if (option.value.empty()) continue;
    const char* const name = option.names[index_of(kind)];
    if (name == nullptr)
      throw OptionError(std::string("run: ") + option.name + ": " + kLaunchers[index_of(kind)] +
                        " starts this job and has no such option; hand on one of its own by "
                        "--launcher-arg=OPTION");
    words.push_back(name);
    if (option.value != kFlag) words.push_back(option.value);
  }
  return words;
}

std::vector<std::string> program_words(LauncherKind kind,
                                       const std::vector<Application>& applications,
                                       const std::vector<std::string>& options,
                                       const std::vector<std::string>& wrapper) {
  if (kind == LauncherKind::kSlurm && applications.size() > 1)
    throw OptionError("run: srun starts this job, and starts one program only: leave out \":\"");
  Words words;
  const auto add = [&](const Words& more) { words.insert(words.end(), more.begin(), more.end()); };
  for (const Application& application : applications) {
    if (!words.empty()) words.push_back(":");
    add({"-n", std::to_string(application.count)});
    add(options);
    if (kind == LauncherKind::kSlurm) {
      add(program_of_slurm(application));
    } else {
      if (!application.directory.empty()) add({"-wdir", application.directory});
      for (const std::string& variable : application.environment)
        add(variable_words(kind, variable));
    }
    add(wrapper);
    add(application.command);
  }
  return words;
}

}  // namespace nagaya::tools
