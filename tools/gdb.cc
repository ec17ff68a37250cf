// SPDX-License-Identifier: BSD-3-Clause
// gdb.cc - `nagaya gdb`: gdb on one task, with all symbols.
//
// The kernel knows one program per address space, the host's, and so does a gdb that attaches to a
// task by itself. This command tells gdb the task's program and its address before gdb attaches.
// Then gdb finds in that program's dynamic section (DT_DEBUG) the task's own ld.so and its list of
// libraries, and treats the task as an ordinary process: libraries, thread-local variables, dlopen.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/fd.h"
#include "command.h"
#include "observe/job_sockets.h"
#include "observe/process_files.h"
#include "observe/task_core.h"
#include "subcommands.h"
#include "task/load/elf_image.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

using base::Error;

// The description of the task that gdb gets.
struct Target {
  std::string program;
  uint64_t base;
  std::string attach;  // gdb's command that opens the task or its core file
};

constexpr char kDeleted[] = " (deleted)";

// Returns the address at which the program is loaded: its mapping of the start of the file that
// goes with a mapping of its code (a program may also map its own file to read it).
uint64_t base_of(const std::string& program, const std::vector<FileMapping>& files,
                 const Partition& partition) {
  const task::ElfImage image = task::read_elf(program);
  const auto in_partition = [&](uint64_t address) {
    return partition.home.holds(address) || partition.range.holds(address);
  };
  const auto is_mapped = [&](uint64_t address) {
    return std::any_of(files.begin(), files.end(), [&](const FileMapping& mapping) {
      return mapping.path == program && mapping.addresses.holds(address);
    });
  };
  for (const FileMapping& mapping : files) {
    if (mapping.path == program + kDeleted && in_partition(mapping.addresses.begin))
      throw Error(-ESTALE, program +
                               " was replaced since the task was started: no symbols fit; use "
                               "`gdb -p` for what can be seen without");
    if (mapping.path != program || mapping.file_offset_bytes != 0 ||
        !in_partition(mapping.addresses.begin))
      continue;
    uint64_t bias = mapping.addresses.begin;
    bool holds_code = true;
    bool first = true;
    for (const Elf64_Phdr& segment : image.segments) {
      if (segment.p_type != PT_LOAD) continue;
      if (std::exchange(first, false)) bias -= segment.p_vaddr & ~(task::kPageBytes - 1);
      if ((segment.p_flags & PF_X) != 0) holds_code = is_mapped(bias + segment.p_vaddr);
    }
    if (holds_code) return bias;
  }
  throw Error(-ENOENT, program + " is not mapped in the task (has it started?)");
}

const char* ptrace_remedy() {
  std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
  int scope = 0;
  file >> scope;
  if (scope == 1 || scope == 2)
    return "kernel.yama.ptrace_scope forbids it: `sudo sysctl kernel.yama.ptrace_scope=0`";
  if (scope == 3) return "kernel.yama.ptrace_scope=3 forbids it until the next boot";
  return "in a container, give it CAP_SYS_PTRACE (docker run --cap-add SYS_PTRACE)";
}

// If attaching will be refused, says so before gdb does, with the remedy.
void check_attachable(int pid) {
  const auto tracer = status_number(pid, "TracerPid");
  if (!tracer) throw Error(-ESRCH, fmt::format("task {}: has ended", pid));
  if (*tracer != 0)
    throw Error(-EPERM, fmt::format("process {} is traced already, by {} ({})", pid, *tracer,
                                    command_name(static_cast<int>(*tracer))));
  const base::Fd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC));
  if (memory) return;
  if (errno != EACCES && errno != EPERM) base::throw_errno(fmt::format("process {}", pid));
  throw Error(-EPERM,
              fmt::format("attaching to process {} is not allowed: {}", pid, ptrace_remedy()));
}

std::vector<JobSocket> running_jobs(const std::string& name) {
  std::vector<JobSocket> jobs = ask_all_sockets();
  std::erase_if(jobs, [&](const JobSocket& socket) {
    return socket.state != SocketState::kAnswers || (!name.empty() && socket.job != name);
  });
  if (jobs.empty())
    throw Error(-ESRCH, name.empty() ? "no job of yours runs on this node"
                                     : "no job " + name + " runs; `nagaya ps` lists them");
  return jobs;
}

const task::TaskStatus* find_task(const std::vector<JobSocket>& jobs, const auto& is_wanted) {
  for (const JobSocket& job : jobs)
    for (const task::TaskStatus& task : job.status.tasks)
      if (is_wanted(task)) return &task;
  return nullptr;
}

const task::TaskStatus& task_with_pid(const std::vector<JobSocket>& jobs, int pid) {
  const auto* task = find_task(jobs, [pid](const auto& task) { return task.pid == pid; });
  if (task == nullptr) throw Error(-ESRCH, fmt::format("process {} is not a task of yours", pid));
  return *task;
}

const task::TaskStatus& task_with_number(const std::vector<JobSocket>& jobs, uint32_t number) {
  if (jobs.size() > 1) {
    std::string names;
    for (const JobSocket& job : jobs) names += " " + job.job;
    throw Error(-EINVAL, "several jobs run; name one with --job:" + names);
  }
  const auto* task = find_task(jobs, [number](const auto& task) { return task.number == number; });
  if (task == nullptr)
    throw Error(-ESRCH, fmt::format("job {} has no task {}", jobs[0].job, number));
  return *task;
}

Target target_of(const task::TaskStatus& task) {
  if (task.state == task::TaskState::kEnded)
    throw Error(-ESRCH, fmt::format("task {} has ended", task.number));
  check_attachable(task.pid);
  const Partition partition{{task.home, task.home + task.home_bytes},
                            {task.range, task.range + task.range_bytes}};
  return {task.program, base_of(task.program, file_mappings(task.pid), partition),
          fmt::format("attach {}", task.pid)};
}

// Returns the path as one word for gdb, which splits words as a shell does.
std::string quoted(const std::string& path) {
  std::string text = "\"";
  for (char c : path) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

Target target_of_core(const std::string& path) {
  const CoreTask core = read_task_core(path);
  complain(fmt::format("core of task {}, process {}, {}", core.number, core.pid, core.program));
  return {core.program, base_of(core.program, core.files, core.partition),
          "core-file " + std::string(std::filesystem::absolute(path))};  // gdb does not split this
}

uint32_t take_number(std::vector<std::string>& words) {
  uint32_t number = 0;
  const std::string text = words.empty() ? "" : words[0];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    throw Error(-EINVAL, "gdb: name a task by its number, or use --pid or --core");
  words.erase(words.begin());
  return number;
}

// Takes --job from behind the task's number: gdb has no such option.
void take_job(GdbOptions& options) {
  constexpr std::string_view kJob = "--job";
  std::vector<std::string>& words = options.rest;
  if (words.empty() || !words[0].starts_with(kJob)) return;
  if (words[0] == kJob && words.size() > 1) {
    options.job = words[1];
    words.erase(words.begin(), words.begin() + 2);
  } else if (words[0].substr(kJob.size()).starts_with('=')) {
    options.job = words[0].substr(kJob.size() + 1);
    words.erase(words.begin());
  }
}

Target choose_target(GdbOptions& options) {
  if (!options.core.empty()) return target_of_core(options.core);
  if (options.pid != 0) return target_of(task_with_pid(running_jobs(options.job), options.pid));
  const uint32_t number = take_number(options.rest);
  take_job(options);
  return target_of(task_with_number(running_jobs(options.job), number));
}

}  // namespace

int gdb_command(GdbOptions options) {
  const Target target = choose_target(options);
  std::vector<std::string> words{
      "gdb",  "-q",
      "-iex", "set exec-file-mismatch off",  // the kernel says: nagaya-host
      "-ex",  "exec-file " + quoted(target.program),
      "-ex",  fmt::format("symbol-file {} -o {:#x}", quoted(target.program), target.base),
      "-ex",  target.attach};
  words.insert(words.end(), options.rest.begin(), options.rest.end());
  ::execvp(words[0].c_str(), argv_of(words).data());
  complain(errno == ENOENT ? std::string("gdb is not installed")
                           : std::string("gdb: ") + std::strerror(errno));
  return exit_code_of(-errno);
}

}  // namespace nagaya::tools
