// SPDX-License-Identifier: BSD-3-Clause
// top.cc - `nagaya top`: the tasks of this user's jobs on this node, and what each of them does
// just now.
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>

#include "base/printable.h"
#include "job_sockets.h"
#include "job_text.h"
#include "process_files.h"
#include "subcommands.h"

namespace nagaya::tools {
namespace {

using Clock = std::chrono::steady_clock;

// What a task has done since it started.
struct Sums {
  double cpu_s = 0;
  uint64_t sleeps = 0, preemptions = 0;
};

std::map<int, Sums> sums_of(const std::vector<JobSocket>& sockets) {
  std::map<int, Sums> sums;
  for (const JobSocket& socket : sockets)
    for (const task::TaskStatus& task : socket.status.tasks)
      if (const auto process = process_state(task.pid))
        sums[task.pid] = {process->cpu_s,
                          status_number(task.pid, "voluntary_ctxt_switches").value_or(0),
                          status_number(task.pid, "nonvoluntary_ctxt_switches").value_or(0)};
  return sums;
}

uint64_t requests_of(const task::JobStatus& status) {
  uint64_t count = 0;
  for (const task::RequestCount& request : status.requests) count += request.count;
  return count;
}

// Looks again and again, and compares each look with the one before.
class Top {
 public:
  Top() { look(); }

  // Returns the text about the time since the last look.
  std::string next() {
    const Clock::time_point before = time_;
    const std::map<int, Sums> sums_before = std::exchange(sums_, {});
    const std::map<std::string, uint64_t> requests_before = std::exchange(requests_, {});
    look();
    const double seconds = std::chrono::duration<double>(time_ - before).count();
    std::string text;
    for (const JobSocket& socket : sockets_) {
      if (socket.state != SocketState::kAnswers) continue;
      text += text.empty() ? "" : "\n";
      text += line_of(socket, requests_before, seconds);
      text += fmt::format("  {:>4} {:>8}  {:>6} {:>9} {:>11}  {}\n", "TASK", "PID", "CPU",
                          "SLEEPS/s", "PREEMPTED/s", "PROGRAM");
      for (const task::TaskStatus& task : socket.status.tasks)
        text += row_of(task, sums_before, seconds);
    }
    return text.empty() ? "no job of yours runs on this node\n" : text;
  }

 private:
  void look() {
    sockets_ = ask_all_sockets();
    sums_ = sums_of(sockets_);
    for (const JobSocket& socket : sockets_) requests_[socket.job] = requests_of(socket.status);
    time_ = Clock::now();
  }

  std::string line_of(const JobSocket& socket,
                      const std::map<std::string, uint64_t>& requests_before,
                      double seconds) const {
    const task::JobStatus& status = socket.status;
    const auto kib = status_number(status.host_pid, "VmRSS");
    const auto before = requests_before.find(socket.job);
    const uint64_t requests = requests_.at(socket.job);
    std::string text =
        fmt::format("job {}: {} tasks, memory {}, page tables {}", base::printable(socket.job),
                    status.tasks.size(), size_text(kib ? std::optional(*kib << 10) : std::nullopt),
                    size_text(page_table_bytes(status.host_pid)));
    if (requests != 0 && before != requests_before.end())
      text +=
          fmt::format(", {:.0f} requests/s to other nodes", (requests - before->second) / seconds);
    return text + "\n";
  }

  std::string row_of(const task::TaskStatus& task, const std::map<int, Sums>& sums_before,
                     double seconds) const {
    const auto now = sums_.find(task.pid), before = sums_before.find(task.pid);
    std::string cpu = "-", sleeps = "-", preemptions = "-";
    if (now != sums_.end() && before != sums_before.end()) {
      const auto rate = [&](auto Sums::*sum) {
        return (now->second.*sum - before->second.*sum) / seconds;
      };
      cpu = fmt::format("{:.0f} %", 100 * rate(&Sums::cpu_s));
      sleeps = fmt::format("{:.0f}", rate(&Sums::sleeps));
      preemptions = fmt::format("{:.0f}", rate(&Sums::preemptions));
    }
    return fmt::format("  {:>4} {:>8}  {:>6} {:>9} {:>11}  {}\n", task.number, task.pid, cpu,
                       sleeps, preemptions, base::printable(task.program));
  }

  std::vector<JobSocket> sockets_;
  std::map<int, Sums> sums_;                  // by pid
  std::map<std::string, uint64_t> requests_;  // to other nodes, by job
  Clock::time_point time_;
};

// Returns the first lines that fit on the terminal.
std::string fitted(const std::string& text) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2) return text;
  size_t end = 0;
  for (unsigned row = 1; row < size.ws_row && end != std::string::npos; ++row)
    end = text.find('\n', end == 0 ? 0 : end + 1);
  return end == std::string::npos ? text : text.substr(0, end);
}

}  // namespace

int top_command(const TopOptions& options) {
  constexpr const char* kClear = "\033[H\033[2J";
  const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  Top top;
  for (uint64_t shown = 0; options.times == 0 || shown < options.times; ++shown) {
    std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
    const std::string text = top.next();
    fmt::print("{}", is_terminal ? kClear + fitted(text) : (shown == 0 ? "" : "\n") + text);
    if (std::fflush(stdout) != 0) return 0;  // nobody reads any more: main() says so
  }
  return 0;
}

}  // namespace nagaya::tools
