// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/spawner.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstring>

#include "task/load/freestanding/stop_point.h"

namespace nagaya::task {
namespace {

constexpr uint64_t kStartStackBytes = 32 << 10;  // of the task's own stack, below its arguments
#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif

// Clones the task with CLONE_VM but without CLONE_THREAD, FILES, FS or SIGHAND: it shares only the
// memory. Its end signal is this process's own, as always with CLONE_PARENT.
long clone_task(LiveTask& task) {
  const uint64_t stack_top = (task.start.stack_pointer - 256) & ~uint64_t{15};
  clone_args args{};
  args.flags = CLONE_VM | CLONE_PARENT | CLONE_CLEAR_SIGHAND;
  args.stack = stack_top - kStartStackBytes;
  args.stack_size = kStartStackBytes;
  const long pid = nagaya_arch_clone3(&args, sizeof args, run_start, &task.start);
  // Linux before 5.3 lacks clone3 (ENOSYS); 5.3 and 5.4 do not know CLONE_CLEAR_SIGHAND (EINVAL); a
  // filter of system calls may refuse clone3 (EPERM or ENOSYS).
  if (pid != -ENOSYS && pid != -EPERM && pid != -EINVAL) return pid;
  task.start.reset_handlers = 1;
  return nagaya_arch_clone(CLONE_VM | CLONE_PARENT, reinterpret_cast<void*>(stack_top), run_start,
                           &task.start);
}

}  // namespace

void spawn(Loader& loader, pid_t reaper, LiveTask& task, const Launch& launch,
           const std::vector<base::Fd>& descriptors) {
  if (descriptors.size() != launch.descriptor_numbers.size() + 1)
    throw base::Error(-EPROTO, "malformed message: descriptors and numbers differ");
  TaskRecord& record = *task.record;
  task.inherit = launch.inherit;
  // An exec can inherit a descriptor number beyond the limit, but dup cannot make one.
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  for (size_t n = 0; n < launch.descriptor_numbers.size(); ++n)
    if (static_cast<rlim_t>(launch.descriptor_numbers[n]) < limit.rlim_cur)
      task.moves.push_back({descriptors[n].get(), launch.descriptor_numbers[n]});

  Start& start = task.start;
  loader.load(record, launch.text, launch.inherit.limits[RLIMIT_STACK].rlim_cur, start);
  start.task = &record;
  start.inherit = &task.inherit;
  start.moves = task.moves.data();
  start.move_count = static_cast<uint32_t>(task.moves.size());
  start.directory_fd = descriptors.back().get();
  start.parent_pid = reaper;
  std::strncpy(start.name, launch.text.process_name.c_str(), sizeof start.name - 1);

  stop_at(StopPoint::kHostLoaded);
  const long pid = clone_task(task);
  if (pid < 0)
    throw base::Error(static_cast<int>(pid), "cannot start " + launch.text.program + ": clone: " +
                                                 std::strerror(static_cast<int>(-pid)));
  task.pid = static_cast<int32_t>(pid);
}

}  // namespace nagaya::task
