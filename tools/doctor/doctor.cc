// SPDX-License-Identifier: BSD-3-Clause
// doctor.cc - `nagaya doctor`: this machine's limits for a job of N tasks, or what a program will
// do, with the remedies.
#include "doctor/doctor.h"

#include <fmt/core.h>
#include <hwloc.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/printable.h"
#include "subcommands.h"

namespace nagaya::tools {
namespace {

using doctor::Finding;
using doctor::Level;
using doctor::NamedFinding;
using doctor::Need;

struct Check {
  const char* name;
  doctor::Look look;
};

constexpr Check kChecks[] = {
    {"installation", doctor::installation},
    {"kernel", doctor::kernel_version},
    {"clone", doctor::shared_memory_clone},
    {"clone3", doctor::clone3},
    {"changed text", doctor::changed_text},
    {"partitions", doctor::partitions},
    {"mappings", doctor::mappings},
    {"address limit", doctor::address_limit},
    {"overcommit", doctor::overcommit},
    {"memory", doctor::memory},
    {"huge pages", doctor::huge_pages},
    {"threads-max", doctor::threads_max},
    {"pid_max", doctor::pid_max},
    {"user processes", doctor::user_processes},
    {"cgroup processes", doctor::cgroup_processes},
    {"descriptors", doctor::descriptors},
    {"stack", doctor::stack},
    {"locked memory", doctor::locked_memory},
    {"/proc", doctor::process_files},
    {"socket folder", doctor::socket_folder},
    {"TMPDIR", doctor::temporary_folder},
    {"/dev/shm", doctor::shared_memory},
    {"debugger", doctor::debugger},
    {"core files", doctor::core_files},
    {"network", doctor::network},
    {"delegatees", doctor::delegatees},
    {"MPI", doctor::message_passing},
    {"Python", doctor::python},
};

const char* to_string(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kWarning:
      return "warning";
    case Level::kProblem:
      break;
  }
  return "problem";
}

// Runs a check. If it throws, the error becomes a finding, and the other checks go on.
Finding look(const Check& check, const Need& need) {
  try {
    return check.look(need);
  } catch (const std::exception& error) {
    return {Level::kWarning, fmt::format("cannot be examined: {}", error.what()), ""};
  }
}

std::vector<NamedFinding> examine_machine(const Need& need) {
  std::vector<NamedFinding> findings;
  for (const Check& check : kChecks) findings.push_back({check.name, look(check, need)});
  return findings;
}

uint64_t cores() {
  hwloc_topology_t topology;
  hwloc_topology_init(&topology);
  hwloc_topology_load(topology);
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  hwloc_topology_destroy(topology);
  return static_cast<uint64_t>(std::max(count, 1));
}

void print_lines(const std::vector<NamedFinding>& findings) {
  for (const auto& [name, finding] : findings)
    fmt::print("{:<8} {}: {}{}{}\n", to_string(finding.level), name, base::printable(finding.text),
               finding.remedy.empty() ? "" : "; do: ", base::printable(finding.remedy));
}

void print_json(const Need& need, const std::vector<NamedFinding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [name, finding] : findings) {
    nlohmann::ordered_json entry{
        {"name", name}, {"level", to_string(finding.level)}, {"text", finding.text}};
    if (!finding.remedy.empty()) entry["remedy"] = finding.remedy;
    list.push_back(entry);
  }
  const nlohmann::ordered_json all{{"tasks", need.tasks}, {"findings", list}};
  // ASCII, for terminals; paths need not be UTF-8.
  fmt::print("{}\n", all.dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
}

}  // namespace

int doctor_command(const DoctorOptions& options) {
  const Need need{options.tasks != 0 ? options.tasks : cores()};
  const std::vector<NamedFinding> findings =
      options.command.empty() ? examine_machine(need) : examine_program(options.command, need);
  options.json ? print_json(need, findings) : print_lines(findings);
  return std::any_of(findings.begin(), findings.end(),
                     [](const auto& one) { return one.finding.level == Level::kProblem; })
             ? 1
             : 0;
}

}  // namespace nagaya::tools
