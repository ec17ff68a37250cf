// SPDX-License-Identifier: BSD-3-Clause
#include "task/freestanding/redirect.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "task/freestanding/futex.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

namespace nagaya::task {

SpaceHeader* redirect_space = nullptr;

namespace {

using arch::raw_syscall;

constexpr uint64_t kHugePageBytes = 2 << 20;
constexpr int kPlacementTries = 8;
constexpr int kYieldsBetweenChecks = 100;

bool failed(long result) {
  return result < 0 && result > -4096;
}

uint64_t round_up(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

struct Span {
  uint64_t begin, end;
  bool holds(uint64_t from, uint64_t to) const { return begin <= from && to <= end; }
};

// The free ranges of the calling task, locked. A signal handler that interrupted the holder on its
// own thread must not wait for it: then held() is false, and the call goes to the kernel as it is.
class LockedRanges {
 public:
  explicit LockedRanges(TaskRecord& task) : task_(task), held_(false) {
    const uint64_t self = arch::thread_identity(task.space->can_read_thread_pointer != 0);
    for (int n = 1;; ++n) {
      uint64_t holder = 0;
      // Acquire: pairs with the release in the destructor.
      held_ = task_.ranges_holder.compare_exchange_strong(holder, self, std::memory_order_acquire,
                                                          std::memory_order_relaxed);
      if (held_ || holder == self) return;
      raw_syscall(__NR_sched_yield);
      if (n % kYieldsBetweenChecks == 0) wait_longer();
    }
  }
  ~LockedRanges() {
    if (held_) task_.ranges_holder.store(0, std::memory_order_release);
  }
  LockedRanges(const LockedRanges&) = delete;

  bool held() const { return held_; }
  FreeRanges* operator->() const { return &task_.ranges; }

 private:
  void wait_longer() {
    // In a forked child the holder does not exist; the record is the child's own copy.
    if (raw_syscall(__NR_getpid) != task_.pid.load(std::memory_order_relaxed))
      task_.ranges_holder.store(0, std::memory_order_relaxed);
    const timespec pause{0, 50000};
    raw_syscall(__NR_nanosleep, &pause, nullptr);
  }

  TaskRecord& task_;
  bool held_;
};

Span home_of(const TaskRecord& task) {
  return {task.home, task.home + kHomeBytes};
}
Span range_of(const TaskRecord& task) {
  return {task.range, task.range + task.range_bytes};
}

bool is_own(const TaskRecord& task, uint64_t begin, uint64_t end) {
  return home_of(task).holds(begin, end) || range_of(task).holds(begin, end);
}

// Does [begin, end) touch any partition other than the task's own?
bool is_foreign(const TaskRecord& task, uint64_t begin, uint64_t end) {
  if (end <= begin) return false;
  const SpaceHeader& space = *task.space;
  const Span all{space.home_base, space.range_base + space.capacity * space.range_bytes};
  if (end <= all.begin || begin >= all.end) return false;
  return !is_own(task, begin, end);
}

void mark_used(TaskRecord& task, uint64_t begin, uint64_t end) {
  LockedRanges ranges(task);
  if (ranges.held()) ranges->take_exactly(begin, end);
}

void mark_free(TaskRecord& task, uint64_t begin, uint64_t end) {
  if (!is_own(task, begin, end)) return;
  LockedRanges ranges(task);
  if (ranges.held()) ranges->give(begin, end);
}

uint64_t take(TaskRecord& task, uint64_t bytes, uint64_t alignment) {
  LockedRanges ranges(task);
  return ranges.held() ? ranges->take(bytes, alignment) : 0;
}

// Calls place(address) with addresses of the partition until the kernel accepts one. Addresses
// that turn out to be occupied (by a system call that was not redirected) stay marked as used.
// Returns a failure when there is no place; the caller then repeats the call as it was made.
template <class Place>
long place_in_partition(TaskRecord& task, uint64_t bytes, uint64_t alignment, Place place) {
  for (int n = 0; n < kPlacementTries; ++n) {
    const uint64_t at = take(task, bytes, alignment);
    if (at == 0) break;
    const long result = place(at);
    if (!failed(result)) return result;
    if (result != -EEXIST) {
      mark_free(task, at, at + bytes);
      break;
    }
  }
  task.escaped.fetch_add(1, std::memory_order_relaxed);
  return -ENOMEM;
}

// --- the sites of libc, while the task's dynamic linker maps it -------------------------------

const RedirectedFile* find_file(const SpaceHeader& space, const struct stat& file) {
  const uint64_t mtime_ns = file.st_mtim.tv_sec * 1000000000ull + file.st_mtim.tv_nsec;
  // Acquire: pairs with the release in the host that appended the entry.
  const uint32_t count = space.file_count.load(std::memory_order_acquire);
  for (uint32_t n = 0; n < count; ++n) {
    const RedirectedFile& known = space.files[n];
    if (known.inode == file.st_ino && known.device == file.st_dev && known.mtime_ns == mtime_ns)
      return &known;
  }
  return nullptr;
}

const RedirectedFile* find_file_with_sites(const SpaceHeader& space,
                                           const arch::SyscallFrame& call) {
  const bool is_text = (call.args[2] & PROT_EXEC) != 0 &&
                       (call.args[3] & MAP_TYPE) == MAP_PRIVATE &&
                       (call.args[3] & MAP_ANONYMOUS) == 0;
  struct stat file;
  if (!is_text || failed(raw_syscall(__NR_fstat, static_cast<int>(call.args[4]), &file)))
    return nullptr;
  const RedirectedFile* known = find_file(space, file);
  return known != nullptr && has_sites(*known, call.args[5], call.args[1]) ? known : nullptr;
}

// --- the calls --------------------------------------------------------------------------------

long as_asked(const arch::SyscallFrame& call) {
  return raw_syscall(call.number, call.args[0], call.args[1], call.args[2], call.args[3],
                     call.args[4], call.args[5]);
}

uint64_t alignment_for(uint64_t bytes, uint64_t flags) {
  if ((flags & MAP_HUGETLB) != 0) {
    const uint64_t log2 = (flags >> 26) & 63;  // MAP_HUGE_SHIFT
    return log2 != 0 ? uint64_t{1} << log2 : kHugePageBytes;
  }
  // As the kernel does: whole huge pages are laid where huge pages can back them.
  const bool whole_huge_pages = bytes >= kHugePageBytes && bytes % kHugePageBytes == 0;
  return (flags & MAP_ANONYMOUS) != 0 && whole_huge_pages ? kHugePageBytes : kPageBytes;
}

// The writable segment of a library is about to be relocated. Copied now, in one go, its pages cost
// neither a fault each nor the interrupt to all processors of the space by which a fault replaces
// a page that was read before (start of 240 tasks: see docs/tasks.md).
uint64_t populate_flag(const arch::SyscallFrame& call) {
  constexpr uint64_t kSegmentMaxBytes = 64 << 10;
  const bool is_data = (call.args[2] & PROT_WRITE) != 0 && (call.args[2] & PROT_EXEC) == 0 &&
                       (call.args[3] & MAP_TYPE) == MAP_PRIVATE &&
                       (call.args[3] & MAP_ANONYMOUS) == 0;
  return is_data && call.args[1] <= kSegmentMaxBytes ? MAP_POPULATE : 0;
}

long map_fixed(TaskRecord& task, const arch::SyscallFrame& call) {
  const uint64_t begin = call.args[0], end = begin + round_up(call.args[1], kPageBytes);
  if (is_foreign(task, begin, end)) return -EPERM;
  arch::SyscallFrame populated = call;
  populated.args[3] |= populate_flag(call);
  const long result = as_asked(populated);
  if (failed(result)) return result;
  if (is_own(task, begin, end))
    mark_used(task, begin, end);
  else
    task.escaped.fetch_add(1, std::memory_order_relaxed);
  return result;
}

long map_anywhere(TaskRecord& task, const arch::SyscallFrame& call) {
  const uint64_t flags = call.args[3], bytes = round_up(call.args[1], kPageBytes);
  if ((flags & MAP_32BIT) != 0 || bytes == 0) return as_asked(call);
  const uint64_t alignment = alignment_for(bytes, flags);
  const long result =
      place_in_partition(task, round_up(bytes, alignment), alignment, [&](uint64_t at) {
        return raw_syscall(__NR_mmap, at, call.args[1], call.args[2], flags | MAP_FIXED_NOREPLACE,
                           call.args[4], call.args[5]);
      });
  return failed(result) ? as_asked(call) : result;
}

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

// Text that holds sites is mapped writable, changed, then made executable. If the system forbids
// that, it is mapped once more, unchanged.
long map(TaskRecord& task, const arch::SyscallFrame& call) {
  const bool fixed = (call.args[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  const auto map_call = [&](const arch::SyscallFrame& as) {
    return fixed ? map_fixed(task, as) : map_anywhere(task, as);
  };
  const RedirectedFile* file = find_file_with_sites(*task.space, call);
  if (file == nullptr) {
    const long result = map_call(call);
    if (result == -ENOMEM) explain_failure(*task.space, call.args[1]);
    return result;
  }
  arch::SyscallFrame writable = call;
  writable.args[2] = PROT_READ | PROT_WRITE;
  const long result = map_call(writable);
  if (failed(result)) return result;
  const auto address = static_cast<uint64_t>(result);
  if (redirect_sites(*task.space, *file, address, round_up(call.args[1], kPageBytes), call.args[5],
                     static_cast<int>(call.args[2])))
    return result;
  return raw_syscall(__NR_mmap, address, call.args[1], call.args[2], call.args[3] | MAP_FIXED,
                     call.args[4], call.args[5]);
}

long unmap(TaskRecord& task, const arch::SyscallFrame& call) {
  const uint64_t begin = call.args[0], end = begin + round_up(call.args[1], kPageBytes);
  if (is_foreign(task, begin, end)) return -EPERM;
  const long result = as_asked(call);
  if (!failed(result)) mark_free(task, begin, end);
  return result;
}

// Grows in place where the kernel can, else moves within the partition.
long grow(TaskRecord& task, const arch::SyscallFrame& call, uint64_t old_bytes,
          uint64_t new_bytes) {
  const uint64_t old = call.args[0], flags = call.args[3];
  if (is_own(task, old, old + new_bytes) && (flags & MREMAP_DONTUNMAP) == 0) {
    const long result = raw_syscall(__NR_mremap, old, old_bytes, new_bytes, 0, 0);
    if (!failed(result)) {
      mark_used(task, old + old_bytes, old + new_bytes);
      return result;
    }
  }
  if ((flags & MREMAP_MAYMOVE) == 0) return -ENOMEM;
  const uint64_t alignment =
      old % kHugePageBytes == 0 && new_bytes % kHugePageBytes == 0 ? kHugePageBytes : kPageBytes;
  const long result = place_in_partition(task, new_bytes, alignment, [&](uint64_t at) {
    // Claimed first: MREMAP_FIXED replaces what it finds, and another thread may have grown a
    // mapping in place into addresses that a third has just given back.
    const long claimed =
        raw_syscall(__NR_mmap, at, new_bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (failed(claimed)) return claimed;
    const long moved =
        raw_syscall(__NR_mremap, old, old_bytes, new_bytes, flags | MREMAP_FIXED, at);
    if (failed(moved)) raw_syscall(__NR_munmap, at, new_bytes);
    return moved;
  });
  if (failed(result)) return as_asked(call);
  if ((flags & MREMAP_DONTUNMAP) == 0) mark_free(task, old, old + old_bytes);
  return result;
}

long remap(TaskRecord& task, const arch::SyscallFrame& call) {
  const uint64_t old = call.args[0], flags = call.args[3];
  const uint64_t old_bytes = round_up(call.args[1], kPageBytes);
  const uint64_t new_bytes = round_up(call.args[2], kPageBytes);
  if (is_foreign(task, old, old + old_bytes)) return -EPERM;
  if ((flags & MREMAP_FIXED) != 0) {
    const uint64_t target = call.args[4];
    if (is_foreign(task, target, target + new_bytes)) return -EPERM;
    const long result = as_asked(call);
    if (failed(result)) return result;
    if (is_own(task, target, target + new_bytes)) mark_used(task, target, target + new_bytes);
    if ((flags & MREMAP_DONTUNMAP) == 0) mark_free(task, old, old + old_bytes);
    return result;
  }
  if (!is_own(task, old, old + old_bytes)) return as_asked(call);
  if (new_bytes > old_bytes || (flags & MREMAP_DONTUNMAP) != 0)
    return grow(task, call, old_bytes, new_bytes);
  const long result = as_asked(call);
  if (!failed(result)) mark_free(task, old + new_bytes, old + old_bytes);
  return result;
}

long attach_segment(TaskRecord& task, const arch::SyscallFrame& call) {
  struct shmid_ds segment;
  if (call.args[1] != 0) {
    return is_foreign(task, call.args[1], call.args[1] + 1) ? -EPERM : as_asked(call);
  }
  if (failed(raw_syscall(__NR_shmctl, call.args[0], IPC_STAT, &segment))) return as_asked(call);
  const long result = place_in_partition(
      task, round_up(segment.shm_segsz, kPageBytes), kPageBytes,
      [&](uint64_t at) { return raw_syscall(__NR_shmat, call.args[0], at, call.args[2]); });
  return failed(result) ? as_asked(call) : result;
}

// Only ld.so's mprotect comes here. What it makes read-only is RELRO: the relocated tables of a
// library. Left writable, every library is one mapping less against vm.max_map_count, and no
// processor is interrupted; a stray store into such a table goes unnoticed (docs/decisions/0006).
long protect(const arch::SyscallFrame& call) {
  return call.args[2] == PROT_READ ? 0 : as_asked(call);
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

namespace {

bool is_inside(const arch::RedirectSite& site, uint64_t file_offset, uint64_t bytes) {
  return site.offset_bytes >= file_offset &&
         site.offset_bytes + site.window_bytes <= file_offset + bytes;
}

}  // namespace

bool has_sites(const RedirectedFile& file, uint64_t file_offset, uint64_t bytes) {
  for (uint32_t n = 0; n < file.site_count; ++n)
    if (is_inside(file.sites[n], file_offset, bytes)) return true;
  return false;
}

bool redirect_sites(const SpaceHeader& space, const RedirectedFile& file, uint64_t address,
                    uint64_t bytes, uint64_t file_offset, int prot) {
  for (uint32_t n = 0; n < file.site_count; ++n) {
    const arch::RedirectSite& site = file.sites[n];
    if (!is_inside(site, file_offset, bytes)) continue;
    const uint64_t window = address + site.offset_bytes - file_offset;
    arch::rewrite_site(reinterpret_cast<std::byte*>(window), site, space.redirect_table);
  }
  return !failed(raw_syscall(__NR_mprotect, address, bytes, prot));
}

}  // namespace nagaya::task

long nagaya_redirect(const nagaya::arch::SyscallFrame* frame) {
  using namespace nagaya::task;
  const int64_t number = number_of(*redirect_space, frame->return_address);
  if (number < 0) return as_asked(*frame);
  TaskRecord& task = *redirect_space->record(static_cast<uint32_t>(number));
  switch (frame->number) {
    case nagaya::arch::kSysMmap:
      return map(task, *frame);
    case nagaya::arch::kSysMunmap:
      return unmap(task, *frame);
    case nagaya::arch::kSysMremap:
      return remap(task, *frame);
    case nagaya::arch::kSysShmat:
      return attach_segment(task, *frame);
    case nagaya::arch::kSysMprotect:
      return protect(*frame);
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
