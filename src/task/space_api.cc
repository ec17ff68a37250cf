// SPDX-License-Identifier: BSD-3-Clause
// space_api.cc - the C functions of nagaya/task.h that creators of spaces call.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "base/printable.h"
#include "base/random.h"
#include "nagaya/task.h"
#include "task/api_error.h"
#include "task/host/client.h"
#include "task/host/inheritance.h"
#include "task/load/program.h"
#include "task/load/upper_settings.h"
#include "task/space/own_record.h"

using namespace nagaya;
using namespace nagaya::task;

struct nagaya_space {
  explicit nagaya_space(Client&& joined, bool keep = false)
      : client(std::move(joined)), keep_ended(keep) {}

  std::mutex mutex;
  Client client;
  const bool keep_ended;
  const pid_t owner = ::getpid();
  ProgramCache programs;
  std::map<uint32_t, int32_t> tasks;  // spawned, not yet waited for: pids by number
  std::deque<End> ended;              // the ends of such tasks that the host has reported
};

namespace {

// Has no destructor: exit handlers of the program fail, and ask, after those of the thread's
// variables have run.
constinit thread_local char* error_text = nullptr;
struct ErrorTextAtEnd {
  ~ErrorTextAtEnd() { std::free(std::exchange(error_text, nullptr)); }
};

Job job_of_new_space(const nagaya_space_options& options) {
  Job job;
  base::fill_random(job.key);
  job.name = "space-" + base::random_digits();
  job.group = "creator";
  job.group_tasks = options.tasks;
  job.capacity = options.capacity;
  job.launcher_pid = ::getpid();
  job.keeps_tasks = true;
  return job;
}

std::vector<std::string> strings_of(char* const* list) {
  std::vector<std::string> all;
  for (; *list != nullptr; ++list) all.emplace_back(*list);
  return all;
}

ProgramText text_of(ProgramCache& programs, const nagaya_task_program& program) {
  if (program.path == nullptr) throw base::Error(-EINVAL, "no program is named");
  std::vector<std::string> arguments;
  if (program.argv != nullptr && program.argv[0] != nullptr)
    arguments = strings_of(program.argv + 1);
  std::vector<std::string> environment =
      program.envp != nullptr ? strings_of(program.envp) : own_environment();
  add_upper_settings(environment);
  ProgramText text = programs.resolve(program.path, arguments, environment);
  if (text.name == program.path && program.argv != nullptr && program.argv[0] != nullptr)
    text.name = program.argv[0];
  return text;
}

Launch launch_of(ProgramCache& programs, const nagaya_task_program& program,
                 std::vector<int>* descriptors) {
  Launch launch;
  launch.text = text_of(programs, program);
  launch.inherit = inherit_from_this_process();
  launch.wanted_number = program.number - 1;
  if (program.cpu_set != nullptr) {
    if (program.cpu_set_bytes > sizeof launch.inherit.cpu_mask)
      throw base::Error(-EINVAL, "the processor set is too large");
    std::memcpy(launch.inherit.cpu_mask, program.cpu_set, program.cpu_set_bytes);
    launch.inherit.cpu_mask_bytes = static_cast<uint32_t>(program.cpu_set_bytes);
  }
  if (program.descriptors == nullptr) {
    launch.descriptor_numbers = inheritable_descriptors();
    *descriptors = launch.descriptor_numbers;
    return launch;
  }
  for (size_t n = 0; n < program.descriptor_count; ++n) {
    if (program.descriptors[n] < 0) continue;
    launch.descriptor_numbers.push_back(static_cast<int32_t>(n));
    descriptors->push_back(program.descriptors[n]);
  }
  return launch;
}

// Throws in a forked child: the connection of its copy of the handle belongs to the parent.
void require_own(const nagaya_space& space) {
  if (space.owner != ::getpid())
    throw base::Error(-ESRCH, "the handle of the space is of the process that has forked this one");
}

void require_spawned(const nagaya_space& space, int task) {
  if (task < 0 || !space.tasks.contains(static_cast<uint32_t>(task)))
    throw base::Error(-ECHILD, "task " + std::to_string(task) +
                                   " was not spawned by this handle, or was waited for before");
}

// Removes the end of task `number` (-1: any) from `space.ended`, and returns it.
std::optional<End> take_ended(nagaya_space& space, int number) {
  auto found = std::find_if(space.ended.begin(), space.ended.end(), [&](const End& end) {
    return number < 0 || end.number == static_cast<uint32_t>(number);
  });
  if (found == space.ended.end()) return std::nullopt;
  End end = std::move(*found);
  space.ended.erase(found);
  return end;
}

// Moves the ends that the host has reported to `space.ended`. Returns true if there were any.
bool take_messages(nagaya_space& space) {
  const size_t known = space.ended.size();
  while (auto end = space.client.poll_ended()) space.ended.push_back(std::move(*end));
  return space.ended.size() > known;
}

// Waits for the next message of the host. Returns false when `deadline` has passed.
bool await_message(nagaya_space& space, int timeout_ms,
                   std::chrono::steady_clock::time_point deadline) {
  using namespace std::chrono;
  if (take_messages(space)) return true;
  const auto left = duration_cast<milliseconds>(deadline - steady_clock::now()).count();
  pollfd readable{space.client.fd(), POLLIN, 0};
  const int wait_ms = timeout_ms < 0 ? -1 : static_cast<int>(std::max<int64_t>(left, 0));
  return ::poll(&readable, 1, wait_ms) != 0;
}

}  // namespace

int nagaya_space_create(const nagaya_space_options* options, nagaya_space** out) {
  return guarded([&] {
    nagaya_space_options chosen{};
    if (options != nullptr) std::memcpy(&chosen, options, std::min(options->size, sizeof chosen));
    if (chosen.tasks > 4096 || chosen.capacity > 4096)
      throw base::Error(-EINVAL, "a space holds at most 4096 tasks");
    *out = new nagaya_space(Client::join(job_of_new_space(chosen)), chosen.keep_ended != 0);
    return 0;
  });
}

int nagaya_space_current(nagaya_space** out) {
  return guarded([&] {
    const TaskRecord* self = own_record();
    if (self == nullptr) throw base::Error(-ESRCH, "this process is not a task");
    *out = new nagaya_space(Client::join(job_of_own_space(*self)));
    return 0;
  });
}

void nagaya_space_destroy(nagaya_space* space) {
  if (space == nullptr) return;
  // In a forked child the handle is a copy: the parent's job goes on.
  if (space->owner == ::getpid())
    guarded([&] {
      space->client.end_job();
      return 0;
    });
  delete space;
}

int nagaya_task_spawn(nagaya_space* space, const nagaya_task_program* program, int* pid) {
  return guarded([&] {
    require_own(*space);
    const std::lock_guard<std::mutex> guard(space->mutex);
    std::vector<int> descriptors;
    const Launch launch = launch_of(space->programs, *program, &descriptors);
    const char* where = program->directory != nullptr ? program->directory : ".";
    const base::Fd directory =
        base::checked_fd(::open(where, O_PATH | O_DIRECTORY | O_CLOEXEC), where);
    descriptors.push_back(directory.get());
    const Started started = space->client.launch(launch, descriptors);
    space->tasks[started.number] = started.pid;
    if (pid != nullptr) *pid = started.pid;
    return static_cast<int>(started.number);
  });
}

int nagaya_task_wait(nagaya_space* space, int task, int* wait_status, int timeout_ms) {
  return guarded([&] {
    require_own(*space);
    const std::lock_guard<std::mutex> guard(space->mutex);
    if (task >= 0) require_spawned(*space, task);
    if (space->tasks.empty())
      throw base::Error(-ECHILD, "no task that this handle has spawned is left to wait for");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    for (;;) {
      if (const auto end = take_ended(*space, task)) {
        space->tasks.erase(end->number);
        if (!space->keep_ended) space->client.waited(end->number);
        if (wait_status != nullptr) *wait_status = end->wait_status;
        keep_error_text(end->reason ? end->reason->what() : "");
        return static_cast<int>(end->number);
      }
      if (!await_message(*space, timeout_ms, deadline))
        throw base::Error(-ETIMEDOUT, (task < 0 ? "no task" : "task " + std::to_string(task)) +
                                          std::string(task < 0 ? " has" : " has not") +
                                          " ended within " + std::to_string(timeout_ms) + " ms");
    }
  });
}

int nagaya_task_signal(nagaya_space* space, int task, int signal) {
  return guarded([&] {
    require_own(*space);
    const std::lock_guard<std::mutex> guard(space->mutex);
    require_spawned(*space, task);
    space->client.signal(space->tasks.at(static_cast<uint32_t>(task)), signal);
    return 0;
  });
}

void nagaya::task::keep_error_text(const char* text) noexcept {
  static thread_local ErrorTextAtEnd at_end;
  char* kept = nullptr;
  try {
    kept = ::strdup(base::printable(text).c_str());
  } catch (const std::bad_alloc&) {
  }
  std::free(std::exchange(error_text, kept));
}

int nagaya::task::refuse(int code, const char* format, ...) noexcept {
  char text[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  keep_error_text(text);
  return code;
}

int nagaya::task::refuse_outside() noexcept {
  return refuse(-ESRCH, "%s", kNotATask);
}

const char* nagaya_error_text(void) {
  return error_text != nullptr ? error_text : "";
}
