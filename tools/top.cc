// SPDX-License-Identifier: BSD-3-Clause
// top.cc - `nagaya top`: the tasks of this user's jobs on this node, and what each of them does
// just now.
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "base/printable.h"
#include "observe/activity_reader.h"
#include "observe/job_sockets.h"
#include "observe/job_text.h"
#include "observe/process_files.h"
#include "subcommands.h"

namespace nagaya::tools {
namespace {

using Clock = std::chrono::steady_clock;

// The sums of a task since it started, and what it waits for.
struct Sums {
  double cpu_s = 0;
  uint64_t sleeps = 0, preemptions = 0;
  // By the task's own counts, which it keeps while somebody reads them.
  bool has_counts = false;
  uint64_t messages = 0, message_bytes = 0, collectives = 0, accesses = 0, copied_bytes = 0;
  uint64_t waited_ticks = 0;
  uint64_t now_ticks = 0, waiting_since = 0;  // 0: it does not wait
  llcl::WaitReason reason;
};

void add_counts(Sums& sums, const llcl::TaskActivity& task) {
  const auto load = [](const llcl::TaskActivity::Count& count) {
    return count.load(std::memory_order_relaxed);
  };
  sums.has_counts = true;
  sums.messages = load(task.messages);
  sums.message_bytes = load(task.message_bytes);
  sums.collectives = load(task.collectives);
  sums.accesses = load(task.accesses);
  sums.copied_bytes = load(task.copied_bytes);
  sums.waited_ticks = load(task.waited_ticks);
  sums.waiting_since = load(task.waiting_since);
  sums.reason = {load(task.waiting_for)};
  sums.now_ticks = arch::ticks();
  // A wait is added to the task's own sum when it ends.
  if (sums.waiting_since != 0 && sums.now_ticks > sums.waiting_since)
    sums.waited_ticks += sums.now_ticks - sums.waiting_since;
}

// The readers of all jobs, by the paths of their sockets; nullptr: the job cannot be read.
using Readers = std::map<std::string, std::unique_ptr<ActivityReader>>;

std::unique_ptr<ActivityReader> new_reader(const std::string& socket_path) try {
  return std::make_unique<ActivityReader>(socket_path, llcl::kCounts);
} catch (const base::Error&) {
  return nullptr;  // the columns show "-"
}

std::map<int, Sums> sums_of(const std::vector<JobSocket>& sockets, const Readers& readers) {
  std::map<int, Sums> all;
  for (const JobSocket& socket : sockets) {
    const auto reader = readers.find(socket.path);
    for (const task::TaskStatus& task : socket.status.tasks) {
      const auto process = process_state(task.pid);
      if (!process) continue;
      Sums& sums = all[task.pid];
      sums.cpu_s = process->cpu_s;
      sums.sleeps = status_number(task.pid, "voluntary_ctxt_switches").value_or(0);
      sums.preemptions = status_number(task.pid, "nonvoluntary_ctxt_switches").value_or(0);
      if (reader != readers.end() && reader->second != nullptr &&
          task.number < reader->second->activity().capacity)
        add_counts(sums, reader->second->activity().of(task.number));
    }
  }
  return all;
}

// Returns "allreduce, task 3", with the seconds of a long wait; "-" for a task that does not wait.
std::string wait_text(const Sums& sums, double ticks_per_s) {
  if (sums.waiting_since == 0) return "-";
  std::string text = text_of(sums.reason.purpose());
  const std::string whom = text_of(sums.reason.whom());
  if (!whom.empty()) text += ", " + whom;
  const double seconds = (sums.now_ticks - sums.waiting_since) / ticks_per_s;
  return seconds < 1 ? text : text + fmt::format(", {:.0f} s", seconds);
}

uint64_t requests_of(const task::JobStatus& status) {
  uint64_t count = 0;
  for (const task::RequestCount& request : status.requests) count += request.count;
  return count;
}

// Returns by how much the task's waits have grown [ticks]. A wait is not counted before somebody
// reads: of one that the look before has not seen, only the part since then.
double waited_between(const Sums& before, const Sums& now) {
  const double grown = double(now.waited_ticks) - double(before.waited_ticks);
  const bool is_new = before.waiting_since != now.waiting_since;
  const bool began_before = now.waiting_since != 0 && now.waiting_since < before.now_ticks;
  const double unseen = is_new && began_before ? double(before.now_ticks - now.waiting_since) : 0;
  return std::max(0.0, grown - unseen);
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
      text += fmt::format(kRow, "TASK", "PID", "CPU", "WAIT", "SLEEPS/s", "PREEMPTED/s", "MSGS/s",
                          "COLLS/s", "ACCESSES/s", "SENT/s", "COPIED/s", "WAITS FOR", "PROGRAM");
      for (const task::TaskStatus& task : socket.status.tasks)
        text += row_of(task, sums_before, seconds);
    }
    return text.empty() ? "no job of yours runs on this node\n" : text;
  }

 private:
  void look() {
    sockets_ = ask_all_sockets();
    Readers readers;
    for (const JobSocket& socket : sockets_) {
      if (socket.state != SocketState::kAnswers) continue;
      const auto known = readers_.find(socket.path);
      const bool is_read =
          known != readers_.end() && known->second != nullptr && !known->second->has_ended();
      readers[socket.path] = is_read ? std::move(known->second) : new_reader(socket.path);
    }
    readers_ = std::move(readers);
    sums_ = sums_of(sockets_, readers_);
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
    const bool is_known = now != sums_.end() && before != sums_before.end();
    const bool has_counts = is_known && now->second.has_counts && before->second.has_counts;
    const auto grown = [&](auto Sums::*sum) {  // 0: another thread has made it look smaller
      return std::max(0.0, double(now->second.*sum) - double(before->second.*sum));
    };
    const auto rate = [&](bool is_shown, auto Sums::*sum) {
      return is_shown ? fmt::format("{:.0f}", grown(sum) / seconds) : std::string("-");
    };
    const auto bytes = [&](auto Sums::*sum) {
      return has_counts ? size_text(static_cast<uint64_t>(grown(sum) / seconds)) : std::string("-");
    };
    const double ticks = has_counts ? grown(&Sums::now_ticks) : 0;
    const std::string cpu =
        is_known ? fmt::format("{:.0f} %", 100 * grown(&Sums::cpu_s) / seconds) : "-";
    const std::string waited =
        ticks > 0
            ? fmt::format("{:.0f} %", 100 * waited_between(before->second, now->second) / ticks)
            : "-";
    return fmt::format(kRow, task.number, task.pid, cpu, waited, rate(is_known, &Sums::sleeps),
                       rate(is_known, &Sums::preemptions), rate(has_counts, &Sums::messages),
                       rate(has_counts, &Sums::collectives), rate(has_counts, &Sums::accesses),
                       bytes(&Sums::message_bytes), bytes(&Sums::copied_bytes),
                       ticks > 0 ? wait_text(now->second, ticks / seconds) : "-",
                       base::printable(task.command));
  }

  static constexpr const char* kRow =
      "  {:>4} {:>8}  {:>6} {:>6} {:>9} {:>11} {:>8} {:>8} {:>10} {:>10} {:>10}  {:<24}  {}\n";

  Readers readers_;
  std::vector<JobSocket> sockets_;
  std::map<int, Sums> sums_;                  // by pid
  std::map<std::string, uint64_t> requests_;  // to other nodes, by job
  Clock::time_point time_;
};

// Returns the part of the text that fits on the terminal.
std::string fitted(const std::string& text) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2) return text;
  std::istringstream lines(text);
  std::string shown;
  std::string line;
  for (unsigned row = 1; row < size.ws_row && std::getline(lines, line); ++row)
    shown += (row == 1 ? "" : "\n") + line.substr(0, size.ws_col);
  return shown;
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
