// SPDX-License-Identifier: BSD-3-Clause
#include "observe/job_text.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "base/printable.h"
#include "observe/job_view.h"

namespace nagaya::tools {
namespace {

using Json = nlohmann::ordered_json;
using task::TaskState;

const char* to_string(TaskState state) {
  switch (state) {
    case TaskState::kStarting:
      return "starting";
    case TaskState::kRunning:
      return "running";
    case TaskState::kEnded:
      return "ended";
    case TaskState::kFree:
      break;
  }
  return "free";
}

std::string count_text(std::optional<uint64_t> count) {
  return count ? std::to_string(*count) : "-";
}

std::string state_text(const TaskView& task) {
  const int how = task.status.wait_status;
  if (task.status.state != TaskState::kEnded)
    return fmt::format("{} {}", to_string(task.status.state),
                       task.process ? task.process->letter : '-');
  if (WIFSIGNALED(how)) return fmt::format("ended, signal {}", WTERMSIG(how));
  return fmt::format("ended, code {}", WEXITSTATUS(how));
}

std::string launcher_text(const JobView& job) {
  if (job.status.launcher_pid <= 0) return "";
  return fmt::format(", launcher {} ({})", job.status.launcher_pid,
                     job.launcher.empty() ? "gone" : base::printable(job.launcher));
}

std::string tasks_text(const JobView& job) {
  if (job.status.expected_tasks == 0) return fmt::format("{} tasks", job.tasks.size());
  return fmt::format("{} of {} tasks", job.tasks.size(), job.status.expected_tasks);
}

// Returns a line with the requests that were made, "" if there were none.
std::string requests_text(const std::vector<task::RequestCount>& requests) {
  std::string text;
  for (const task::RequestCount& request : requests)
    if (request.count != 0)
      text += fmt::format("{} {} {}", text.empty() ? "" : ",", request.count,
                          base::printable(request.kind));
  return text.empty() ? "" : fmt::format("  requests to other nodes:{}\n", text);
}

std::string departure_text(const task::Departure& departure) {
  return fmt::format("  rank {}: {} runs or ran outside of the space: {}\n", departure.rank,
                     base::printable(departure.program), base::printable(departure.reason));
}

std::string job_text(const JobView& job, bool with_addresses) {
  std::string text = fmt::format("job {}: {}, host {}{}\n", base::printable(job.job),
                                 tasks_text(job), job.status.host_pid, launcher_text(job));
  text += fmt::format("  memory {} (Pss), page tables {}, mappings {} of {}\n",
                      size_text(job.pss_bytes), size_text(job.page_table_bytes),
                      count_text(job.mappings), count_text(max_map_count()));
  if (job.status.refused_messages != 0)
    text += fmt::format("  refused {} messages that came by the network and are not of this job\n",
                        job.status.refused_messages);
  text += requests_text(job.status.requests);
  for (const task::Departure& departure : job.status.departures) text += departure_text(departure);
  const auto row = [&](auto number, auto pid, auto state, auto pss, auto cpu, auto home, auto range,
                       auto program) {
    text += fmt::format("  {:>4} {:>8}  {:<16} {:>11} {:>10}  ", number, pid, state, pss, cpu);
    if (with_addresses) text += fmt::format("{:>12}  {:>12}  ", home, range);
    text += fmt::format("{}\n", program);
  };
  row("TASK", "PID", "STATE", "PSS", "CPU", "HOME", "RANGE", "PROGRAM");
  for (const TaskView& task : job.tasks)
    row(task.status.number, task.status.pid, state_text(task), size_text(task.pss_bytes),
        task.process ? fmt::format("{:.2f} s", task.process->cpu_s) : "-",
        fmt::format("{:x}", task.status.home), fmt::format("{:x}", task.status.range),
        base::printable(task.status.command));
  return text;
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const TaskView& task) {
  const task::TaskStatus& status = task.status;
  const int how = status.wait_status;
  const bool ended = status.state == TaskState::kEnded;
  return {{"number", status.number},
          {"pid", status.pid},
          {"state", to_string(status.state)},
          {"exit_code", ended && WIFEXITED(how) ? Json(WEXITSTATUS(how)) : Json(nullptr)},
          {"signal", ended && WIFSIGNALED(how) ? Json(WTERMSIG(how)) : Json(nullptr)},
          {"kernel_state", task.process ? Json(std::string(1, task.process->letter)) : Json()},
          {"cpu_s", task.process ? Json(task.process->cpu_s) : Json()},
          {"program", status.program},
          {"command", status.command},
          {"group", status.group},
          {"stands_for", status.stands_for >= 0 ? Json(status.stands_for) : Json(nullptr)},
          {"pss_bytes", or_null(task.pss_bytes)},
          {"home", status.home},
          {"home_bytes", status.home_bytes},
          {"range", status.range},
          {"range_bytes", status.range_bytes},
          {"escaped_mappings", status.escaped}};
}

Json json_of(const std::vector<task::Departure>& departures) {
  Json all = Json::array();
  for (const task::Departure& departure : departures)
    all.push_back(
        {{"rank", departure.rank}, {"program", departure.program}, {"reason", departure.reason}});
  return all;
}

Json json_of(const std::vector<task::RequestCount>& requests) {
  Json counts = Json::object();
  for (const task::RequestCount& request : requests) counts[request.kind] = request.count;
  return counts;
}

Json json_of(const JobView& job) {
  Json tasks = Json::array();
  for (const TaskView& task : job.tasks) tasks.push_back(json_of(task));
  return {{"job", job.job},
          {"socket", job.socket},
          {"host_pid", job.status.host_pid},
          {"launcher_pid", job.status.launcher_pid > 0 ? Json(job.status.launcher_pid) : Json()},
          {"launcher", job.launcher.empty() ? Json() : Json(job.launcher)},
          {"expected_tasks", job.status.expected_tasks},
          {"capacity", job.status.capacity},
          {"refused_messages", job.status.refused_messages},
          {"requests", json_of(job.status.requests)},
          {"outside", json_of(job.status.departures)},
          {"pss_bytes", or_null(job.pss_bytes)},
          {"page_table_bytes", or_null(job.page_table_bytes)},
          {"mappings", or_null(job.mappings)},
          {"tasks", tasks}};
}

}  // namespace

std::string size_text(std::optional<uint64_t> bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (!bytes) return "-";
  double amount = double(*bytes) / 1024;
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) amount /= 1024, ++unit;
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::string json_text(const std::vector<JobSocket>& sockets) {
  Json jobs = Json::array(), stale = Json::array(), silent = Json::array();
  for (const JobSocket& socket : sockets) {
    if (socket.state == SocketState::kAnswers) jobs.push_back(json_of(view_of(socket)));
    if (socket.state == SocketState::kStale) stale.push_back(socket.path);
    if (socket.state == SocketState::kSilent)
      silent.push_back({{"socket", socket.path}, {"reason", socket.trouble}});
  }
  const Json all{{"max_map_count", or_null(max_map_count())},
                 {"jobs", jobs},
                 {"stale_sockets", stale},
                 {"silent_sockets", silent}};
  // ASCII, for terminals; paths need not be UTF-8.
  return all.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string table_text(const std::vector<JobSocket>& sockets, bool with_addresses) {
  std::string text;
  for (const JobSocket& socket : sockets) {
    if (socket.state != SocketState::kAnswers) continue;
    if (!text.empty()) text += "\n";
    text += job_text(view_of(socket), with_addresses);
  }
  if (text.empty()) text = "no job of yours runs on this node\n";
  for (const JobSocket& socket : sockets) {
    if (socket.state == SocketState::kStale)
      text += fmt::format("stale socket {}: its host was killed; `nagaya clean` removes it\n",
                          base::printable(socket.path));
    if (socket.state == SocketState::kSilent)
      text += fmt::format("no answer: {}\n", base::printable(socket.trouble));
  }
  return text;
}

}  // namespace nagaya::tools
