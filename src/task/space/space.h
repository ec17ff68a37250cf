// SPDX-License-Identifier: BSD-3-Clause
// space.h - the structures that the host and all tasks of a space share: the map of the space.
//
//   0x1100'0000'0000                                                     0x5500'0000'0000
//   | random | homes: 128 MiB per number | random | ranges: 16 to 256 GiB per number | rest |
//
//   one home, one range:  | random gap, up to an eighth | the task's mappings, from below |
//
//   A task's partition is its home and its range. Stack, libraries and the first heap lie in the
//   home; homes lie side by side, so that eight tasks share one or two page-table pages of the
//   second level. The range takes the other mappings. Homes and ranges are page-aligned, no
//   more. Below the first address lies the shadow of AddressSanitizer. Above the last one the
//   kernel places mappings by itself; the host lives there.
//
// All structures are plain data in private memory of the host (private, so that a forked child
// copies them instead of sharing them). Every task brings its own copy of libnagaya: the stamp
// at the head says whether the copies agree.
//
// A TaskRecord's `state` is moved by:
//   free -> starting    host, before the clone
//   starting -> running the task itself, last store before it enters its program
//   running -> ended    host, when the kernel has reported the end of the task
//   ended -> free       host, when the task was waited for (spawned), or when all tasks of its job
//                       have ended and no living task holds it (SpaceHeader::holds)
// Death: a record is written by its own task and by the host only. When a task dies in the
// middle of a store, the host resets the record before the number is used again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "arch/arch.h"
#include "task/space/build.h"
#include "task/space/free_ranges.h"
#include "task/space/spin_lock.h"

namespace nagaya::task {

inline constexpr unsigned long kAuxvType = 0x4e4147;  // AT_NAGAYA, "NAG"
inline constexpr uint32_t kMagic = 0x4e414759;        // "NAGY"
inline constexpr uint16_t kAbiMajor = 9;              // of the layout: joining another is refused
inline constexpr uint16_t kAbiMinor = 0;              // grows when fields are appended

inline constexpr uint64_t kSpaceBegin = 0x110000000000;
inline constexpr uint64_t kSpaceEnd = 0x550000000000;
inline constexpr uint64_t kHomeBytes = 128ull << 20;
inline constexpr uint64_t kPageBytes = 4096;
// Task numbers are below kTasksMax, in every space.
inline constexpr uint32_t kTaskNumberBits = 12;
inline constexpr uint32_t kTasksMax = 1u << kTaskNumberBits;

struct Stamp {
  uint32_t magic;
  uint16_t major;
  uint16_t minor;
  uint32_t size;  // bytes of the structure that it heads
  uint32_t reserved;

  bool matches(uint32_t expected_size) const {
    return magic == kMagic && major == kAbiMajor && size >= expected_size;
  }
};

enum class TaskState : uint32_t { kFree, kStarting, kRunning, kEnded };

// A published name. Lies in the space heap, owned by the publishing task.
struct Name {
  std::atomic<Name*> next;           // written before the name becomes reachable
  std::atomic<const void*> address;  // nullptr: withdrawn
  char text[64];
};

// A file with known system-call sites: the host scans it once, not once per task.
struct RedirectedFile {
  uint64_t device;
  uint64_t inode;
  uint64_t mtime_ns;
  uint32_t site_count;
  uint32_t reserved;
  uint64_t changed_copy;         // address of the changed file if text may not be written; else 0
  arch::RedirectSite sites[72];  // offset_bytes: from the start of the file
};

inline constexpr size_t kSocketPathBytes = 256;

struct SpaceHeader;
struct SpaceHeap;

inline constexpr size_t kNameBuckets = 16;
inline constexpr size_t kHeapClasses = 12;  // blocks of 64 B << class

// One task's blocks of one size.
struct HeapClass {
  void* free;     // singly linked through the blocks' first word
  uint64_t bump;  // [bump, end): the never used rest of the newest chunk
  uint64_t end;
};
inline constexpr size_t kRecordBytes = 64 << 10;  // address space; one or two pages are touched

// The library that ld.so mapped last: the file in one mapping, readable and executable.
struct LibraryMapping {
  uint64_t begin, end;  // addresses
  uint64_t device, inode;
};

// A System V segment in a partition; needed because shmdt passes only its begin. A segment without
// room in the record can be detached, too, but its addresses stay used until the record's reset.
struct AttachedSegment {
  uint64_t begin, end;  // addresses; 0: none
};
inline constexpr size_t kAttachedSegments = 64;

// A mapping outside of all partitions (load/freestanding/fixed_mapping.h).
struct FixedMapping {
  std::atomic<uint64_t> begin, end;  // addresses; end 0: none
};
inline constexpr size_t kFixedMappings = 16;

struct TaskRecord {
  Stamp stamp;
  SpaceHeader* space;
  uint32_t number;
  std::atomic<TaskState> state;
  std::atomic<int32_t> pid;
  std::atomic<uint32_t> generation;  // how many tasks have had this number
  std::atomic<int32_t> wait_status;  // as of waitpid(2), once ended
  std::atomic<int32_t> start_error;  // errno of the step that failed before the program began
  std::atomic<uint32_t> start_step;  // the failed step, a StartStep (load/freestanding/start.h)

  // Names. `names_changed` counts publications and the task's end; waiters sleep on it.
  std::atomic<uint32_t> names_changed;
  SpinLock names_lock;  // taken by the owner's threads only
  std::atomic<Name*> names[kNameBuckets];

  // The owner's part of the space heap (space_heap.h).
  SpinLock heap_lock;                // taken by the owner's threads only
  std::atomic<void*> heap_returned;  // blocks freed by other tasks
  HeapClass heap_classes[kHeapClasses];

  const char* program;  // absolute path, the result of readlink("/proc/self/exe")

  // Until the task communicates, programs that it executes may become tasks in its stead
  // (load/freestanding/execution.h).
  int32_t stands_for = -1;               // a rank of the job: its index on this node; -1: none
  std::atomic<uint32_t> communicates;    // nonzero: others may know addresses of the task's memory
  std::atomic<const void*> own_library;  // a variable of the libnagaya that called first; or null

  // The partition: first addresses of home and range, including their random gaps.
  uint64_t home;
  uint64_t range;
  uint64_t range_bytes;
  uint64_t stack;                       // lowest address
  LibraryMapping library;               // protected by ld.so's own lock
  std::atomic<uint32_t> escaped;        // mappings outside of the partition
  std::atomic<uint64_t> ranges_holder;  // locks the members below: owner's thread, 0: free
  AttachedSegment segments[kAttachedSegments];
  FixedMapping fixed[kFixedMappings];  // read by all tasks
  FreeRanges ranges;                   // last: open-ended
};

struct SpaceHeader {
  Stamp stamp;
  uint32_t capacity;        // task numbers 0 .. capacity-1
  uint32_t expected_tasks;  // tasks of the job on this node, 0 when not known
  uint64_t home_base;
  uint64_t range_base;
  uint64_t range_bytes;
  std::byte* records;  // `capacity` records, kRecordBytes apart
  SpaceHeap* heap;
  void* upper_floors;  // structures of the floors above (llcl/board/board.h), or nullptr
  uintptr_t redirect_table;
  uint32_t can_read_thread_pointer;        // argument of arch::thread_identity()
  std::atomic<uint32_t> tasks_changed;     // counts starts and ends; waiters sleep on it
  std::atomic<uint32_t> said_no_mappings;  // 1: a task has printed that vm.max_map_count is reached
  std::atomic<uint32_t> said_fixed;  // 1: a task has printed that two tasks map at one address
  std::atomic<uint32_t> file_count;
  RedirectedFile files[16];
  char host_socket[kSocketPathBytes];
  uint8_t key[16];
  char execute_tool[kSocketPathBytes];  // the path of nagaya-execute; "": there is none
  uint64_t identity;                    // random: no other space has it
  char build[kBuildBytes];              // the host's build_text
  // The number of holds of each task on each other one, at capacity * holder + held. The holder
  // writes its row; the host empties it before the number is used again. A dead task holds nothing.
  std::atomic<uint32_t>* holds;

  TaskRecord* record(uint32_t number) const {
    return reinterpret_cast<TaskRecord*>(records + number * kRecordBytes);
  }
  std::atomic<uint32_t>& hold(uint32_t holder, uint32_t held) const {
    return holds[uint64_t{capacity} * holder + held];
  }
};

// The home or range that contains an address: the number of its task (-1: none does), and its end.
struct Part {
  int64_t number;
  uint64_t end;
};

inline Part part_of(const SpaceHeader& space, uint64_t address) {
  const auto among = [&](uint64_t base, uint64_t bytes) -> Part {
    if (address < base || address >= base + space.capacity * bytes) return {-1, 0};
    const uint64_t number = (address - base) / bytes;
    return {static_cast<int64_t>(number), base + (number + 1) * bytes};
  };
  const Part home = among(space.home_base, kHomeBytes);
  return home.number >= 0 ? home : among(space.range_base, space.range_bytes);
}

// Returns the number of the task whose partition contains `address`, -1 when none does.
inline int64_t number_of(const SpaceHeader& space, uint64_t address) {
  return part_of(space, address).number;
}

}  // namespace nagaya::task
