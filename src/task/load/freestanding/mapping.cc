// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/freestanding/mapping.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "task/load/freestanding/fixed_mapping.h"

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

namespace nagaya::task {
namespace {

using arch::raw_syscall;

constexpr uint64_t kHugePageBytes = 2 << 20;

uint64_t alignment_for(uint64_t bytes, uint64_t flags) {
  if ((flags & MAP_HUGETLB) != 0) {
    const uint64_t log2 = (flags >> 26) & 63;  // MAP_HUGE_SHIFT
    return log2 != 0 ? uint64_t{1} << log2 : kHugePageBytes;
  }
  // As in the kernel, a mapping of whole huge pages begins where huge pages can back it.
  const bool whole_huge_pages = bytes >= kHugePageBytes && bytes % kHugePageBytes == 0;
  return (flags & MAP_ANONYMOUS) != 0 && whole_huge_pages ? kHugePageBytes : kPageBytes;
}

// Returns MAP_POPULATE for the writable segment of a library, which ld.so will relocate next.
// Copying its pages at once saves a fault for each, and the interrupt to all processors of the
// space when a fault replaces a page that was read before (start of 240 tasks: see docs/tasks.md).
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
  if (!is_own(task, begin, end)) {
    const bool fails_itself = (call.args[3] & MAP_FIXED_NOREPLACE) != 0;
    return map_at_fixed(task, begin, end, fails_itself, [&] { return pass_to_kernel(populated); });
  }
  const long result = pass_to_kernel(populated);
  if (!failed(result)) mark_used(task, begin, end);
  return result;
}

long map_anywhere(TaskRecord& task, const arch::SyscallFrame& call) {
  const uint64_t flags = call.args[3], bytes = round_up(call.args[1], kPageBytes);
  if ((flags & MAP_32BIT) != 0 || bytes == 0) return pass_to_kernel(call);
  const uint64_t alignment = alignment_for(bytes, flags);
  const long result =
      place_in_partition(task, round_up(bytes, alignment), alignment, [&](uint64_t at) {
        return raw_syscall(__NR_mmap, at, call.args[1], call.args[2], flags | MAP_FIXED_NOREPLACE,
                           call.args[4], call.args[5]);
      });
  return failed(result) ? pass_to_kernel(call) : result;
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
    // Claims the addresses first: MREMAP_FIXED replaces any mapping there, and another thread may
    // have grown a mapping in place into addresses that a third has just given back.
    const long claimed =
        raw_syscall(__NR_mmap, at, new_bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (failed(claimed)) return claimed;
    const long moved =
        raw_syscall(__NR_mremap, old, old_bytes, new_bytes, flags | MREMAP_FIXED, at);
    if (failed(moved)) raw_syscall(__NR_munmap, at, new_bytes);
    return moved;
  });
  if (failed(result)) return pass_to_kernel(call);
  if ((flags & MREMAP_DONTUNMAP) == 0) mark_free(task, old, old + old_bytes);
  return result;
}

// Returns true if a mapping lies there although the free ranges call the addresses free.
bool is_occupied(uint64_t at, uint64_t bytes) {
  const long probe =
      raw_syscall(__NR_mmap, at, bytes, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (!failed(probe)) raw_syscall(__NR_munmap, at, bytes);
  return probe == -EEXIST;
}

}  // namespace

long pass_to_kernel(const arch::SyscallFrame& call) {
  return raw_syscall(call.number, call.args[0], call.args[1], call.args[2], call.args[3],
                     call.args[4], call.args[5]);
}

long map(TaskRecord& task, const arch::SyscallFrame& call) {
  const bool fixed = (call.args[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  return fixed ? map_fixed(task, call) : map_anywhere(task, call);
}

long unmap(TaskRecord& task, const arch::SyscallFrame& call) {
  const uint64_t begin = call.args[0], end = begin + round_up(call.args[1], kPageBytes);
  if (is_foreign(task, begin, end)) return -EPERM;
  const long result = pass_to_kernel(call);
  if (failed(result)) return result;
  if (is_own(task, begin, end))
    mark_free(task, begin, end);
  else
    leave_fixed(task, begin, end);
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
    const long result = pass_to_kernel(call);
    if (failed(result)) return result;
    if (is_own(task, target, target + new_bytes)) mark_used(task, target, target + new_bytes);
    if ((flags & MREMAP_DONTUNMAP) == 0) mark_free(task, old, old + old_bytes);
    return result;
  }
  if (!is_own(task, old, old + old_bytes)) return pass_to_kernel(call);
  if (new_bytes > old_bytes || (flags & MREMAP_DONTUNMAP) != 0)
    return grow(task, call, old_bytes, new_bytes);
  const long result = pass_to_kernel(call);
  if (!failed(result)) mark_free(task, old + new_bytes, old + old_bytes);
  return result;
}

long change_if_not_foreign(const TaskRecord& task, const arch::SyscallFrame& call) {
  const uint64_t end = call.args[0] + round_up(call.args[1], kPageBytes);
  return is_foreign(task, call.args[0], end) ? -EPERM : pass_to_kernel(call);
}

long attach_segment(TaskRecord& task, const arch::SyscallFrame& call) {
  struct shmid_ds segment;
  const uint64_t wanted = call.args[1], flags = call.args[2];
  const long known = raw_syscall(__NR_shmctl, call.args[0], IPC_STAT, &segment);
  if (failed(known)) return known;  // shmat would find the same segment missing, or forbidden
  const uint64_t bytes = round_up(segment.shm_segsz, kPageBytes);
  const uint64_t page = wanted & ~(kPageBytes - 1);  // rounded down as by SHM_RND
  if (is_foreign(task, page, page + bytes)) return -EPERM;
  if (wanted != 0 && !is_own(task, page, page + bytes))
    return map_at_fixed(task, page, page + bytes, (flags & SHM_REMAP) == 0,
                        [&] { return pass_to_kernel(call); });
  long result = -ENOMEM;
  if (wanted == 0 && (flags & SHM_REMAP) == 0)
    result = place_in_partition(task, bytes, kPageBytes, [&](uint64_t at) {
      // No addresses are claimed before: shmat itself fails if they are occupied, and a segment of
      // huge pages takes more of them than `bytes`.
      const long attached = raw_syscall(__NR_shmat, call.args[0], at, flags);
      return attached == -EINVAL && is_occupied(at, bytes) ? -EEXIST : attached;
    });
  if (failed(result)) result = pass_to_kernel(call);
  if (failed(result)) return result;
  const auto begin = static_cast<uint64_t>(result);
  if (is_own(task, begin, begin + bytes)) mark_attached(task, begin, begin + bytes);
  return result;  // a segment outside of the partition is counted as escaped already
}

long detach_segment(TaskRecord& task, const arch::SyscallFrame& call) {
  if (is_foreign(task, call.args[0], call.args[0] + 1)) return -EPERM;
  const long result = pass_to_kernel(call);
  if (failed(result)) return result;
  mark_detached(task, call.args[0]);
  leave_fixed_at(task, call.args[0]);
  return result;
}

}  // namespace nagaya::task
