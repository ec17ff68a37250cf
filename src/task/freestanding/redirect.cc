// SPDX-License-Identifier: BSD-3-Clause
#include "task/freestanding/redirect.h"

#include "task/freestanding/library.h"
#include "task/freestanding/mapping.h"
#include "task/freestanding/partition.h"

namespace nagaya::task {

SpaceHeader* redirect_space = nullptr;

namespace {

using arch::raw_syscall;

// All tasks of a space count against one vm.max_map_count. Said once per space, by the task that
// met the limit: what fails next is its malloc, which says nothing of the cause.
void explain_failure(const SpaceHeader& space, uint64_t bytes) {
  static constexpr char kText[] =
      "nagaya: no more mappings: the tasks of a space share vm.max_map_count; raise it with "
      "`sysctl -w vm.max_map_count=1048576`, or use `nagaya run --separate`\n";
  constexpr uint64_t kPlausibleBytes = 1 << 30;  // larger requests fail for other reasons
  auto& said = const_cast<std::atomic<uint32_t>&>(space.said_no_mappings);
  if (bytes < kPlausibleBytes && said.exchange(1, std::memory_order_relaxed) == 0)
    raw_syscall(__NR_write, 2, kText, sizeof kText - 1);
}

long map_or_explain(TaskRecord& task, const arch::SyscallFrame& call) {
  const long result = map_possible_library(task, call);
  if (result == -ENOMEM) explain_failure(*task.space, call.args[1]);
  return result;
}

bool is_own_executable(const char* path) {
  constexpr char kSelf[] = "/proc/self/exe";
  for (size_t n = 0; n < sizeof kSelf; ++n)
    if (path[n] != kSelf[n]) return false;
  return true;
}

long read_link(TaskRecord& task, const arch::SyscallFrame& call, const char* path, char* buffer,
               uint64_t bytes) {
  const long result = as_asked(call);
  // After the kernel's success both pointers are known to be good.
  if (failed(result) || !is_own_executable(path) ||
      raw_syscall(__NR_getpid) != task.pid.load(std::memory_order_relaxed))
    return result;
  volatile char* out = buffer;
  uint64_t n = 0;
  for (; n < bytes && task.program[n] != '\0'; ++n) out[n] = task.program[n];
  return static_cast<long>(n);
}

}  // namespace
}  // namespace nagaya::task

long nagaya_redirect(const nagaya::arch::SyscallFrame* frame) {
  using namespace nagaya::task;
  const int64_t number = number_of(*redirect_space, frame->return_address);
  if (number < 0) return as_asked(*frame);
  TaskRecord& task = *redirect_space->record(static_cast<uint32_t>(number));
  switch (frame->number) {
    case nagaya::arch::kSysMmap:
      return map_or_explain(task, *frame);
    case nagaya::arch::kSysMunmap:
      return unmap(task, *frame);
    case nagaya::arch::kSysMremap:
      return remap(task, *frame);
    case nagaya::arch::kSysShmat:
      return attach_segment(task, *frame);
    case nagaya::arch::kSysMprotect:
      return protect_library(task, *frame);
    case nagaya::arch::kSysReadlink:
      return read_link(task, *frame, reinterpret_cast<const char*>(frame->args[0]),
                       reinterpret_cast<char*>(frame->args[1]), frame->args[2]);
    case nagaya::arch::kSysReadlinkat:
      return read_link(task, *frame, reinterpret_cast<const char*>(frame->args[1]),
                       reinterpret_cast<char*>(frame->args[2]), frame->args[3]);
    default:
      return as_asked(*frame);
  }
}
