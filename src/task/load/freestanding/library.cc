// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/freestanding/library.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "task/load/freestanding/mapping.h"
#include "task/load/freestanding/partition.h"

namespace nagaya::task {
namespace {

using arch::raw_syscall;

bool is_inside(const arch::RedirectSite& site, uint64_t file_offset, uint64_t bytes) {
  return site.offset_bytes >= file_offset &&
         site.offset_bytes + site.window_bytes <= file_offset + bytes;
}

bool has_sites(const RedirectedFile& file, uint64_t file_offset, uint64_t bytes) {
  for (uint32_t n = 0; n < file.site_count; ++n)
    if (is_inside(file.sites[n], file_offset, bytes)) return true;
  return false;
}

// Maps the pages of the changed copy that begin at `file_offset` over `address`. mremap with an old
// size of 0 makes a second mapping of the same pages; it requires shared pages.
bool lay_changed_copy(const RedirectedFile& file, uint64_t address, uint64_t bytes,
                      uint64_t file_offset) {
  const long got = raw_syscall(__NR_mremap, file.changed_copy + file_offset, 0, bytes,
                               MREMAP_MAYMOVE | MREMAP_FIXED, address);
  return got == static_cast<long>(address);
}

// Rewrites the sites that lie in [address, address + bytes), a fresh private mapping of the file
// from `file_offset` that is readable and writable. Then sets `prot` for the whole mapping: doing
// so page by page would split it into mappings that never merge again. Returns false when the
// system refuses `prot` for changed text (SELinux execmod).
bool rewrite_sites(const SpaceHeader& space, const RedirectedFile& file, uint64_t address,
                   uint64_t bytes, uint64_t file_offset, int prot) {
  for (uint32_t n = 0; n < file.site_count; ++n) {
    const arch::RedirectSite& site = file.sites[n];
    if (!is_inside(site, file_offset, bytes)) continue;
    const uint64_t window = address + site.offset_bytes - file_offset;
    arch::rewrite_site(reinterpret_cast<std::byte*>(window), site, space.redirect_table);
  }
  return !failed(raw_syscall(__NR_mprotect, address, bytes, prot));
}

// Maps text that holds sites. Where text may be changed, maps it writable, rewrites it, then sets
// the rights that `call` asks for; elsewhere maps the changed copy over it. If the system forbids
// both, maps the text once more, unchanged.
long map_with_sites(TaskRecord& task, const RedirectedFile& file, const arch::SyscallFrame& call) {
  const bool has_copy = file.changed_copy != 0;
  arch::SyscallFrame first = call;
  if (!has_copy) first.args[2] = PROT_READ | PROT_WRITE;
  const long result = map(task, first);
  if (failed(result)) return result;
  const auto address = static_cast<uint64_t>(result);
  const uint64_t bytes = round_up(call.args[1], kPageBytes), offset = call.args[5];
  const bool has_changed = has_copy ? lay_changed_copy(file, address, bytes, offset)
                                    : rewrite_sites(*task.space, file, address, bytes, offset,
                                                    static_cast<int>(call.args[2]));
  if (has_changed) return result;
  return raw_syscall(__NR_mmap, address, call.args[1], call.args[2], call.args[3] | MAP_FIXED,
                     call.args[4], offset);
}

// Returns true for a call of ld.so: no other code passes MAP_DENYWRITE, which the kernel ignores.
bool is_of_linker(const arch::SyscallFrame& call) {
  constexpr unsigned long kFlags = MAP_PRIVATE | MAP_DENYWRITE;
  return (call.args[3] & ~MAP_FIXED) == kFlags && (call.args[2] & PROT_WRITE) == 0;
}

bool is_text(const arch::SyscallFrame& call) {
  return (call.args[2] & PROT_EXEC) != 0 && (call.args[3] & MAP_TYPE) == MAP_PRIVATE &&
         (call.args[3] & MAP_ANONYMOUS) == 0;
}

// Calls map_file() for the file that `about` describes.
long map_stated_file(TaskRecord& task, const struct stat& about, const arch::SyscallFrame& call) {
  const uint64_t mtime_ns = about.st_mtim.tv_sec * 1000000000ull + about.st_mtim.tv_nsec;
  return map_file(task, find_file(*task.space, about.st_dev, about.st_ino, mtime_ns), call);
}

// ld.so maps a library in one piece, with the rights of its first segment, and maps the other
// segments over it. This function maps the one piece as text, so that it serves every unwritable
// segment: that saves a third of the mappings and of the time under the mmap_lock
// (docs/decisions/0006).
long map_whole(TaskRecord& task, const struct stat& file, const arch::SyscallFrame& call) {
  arch::SyscallFrame text = call;
  text.args[2] = PROT_READ | PROT_EXEC;
  const long result = map_stated_file(task, file, text);
  if (failed(result)) return map(task, call);  // a file system mounted without the right to execute
  const auto begin = static_cast<uint64_t>(result);
  task.library = {begin, begin + round_up(call.args[1], kPageBytes), file.st_dev, file.st_ino};
  return result;
}

bool is_there_already(const TaskRecord& task, const struct stat& file,
                      const arch::SyscallFrame& call) {
  const LibraryMapping& library = task.library;
  const Span whole{library.begin, library.end};
  return whole.holds(call.args[0], call.args[0] + round_up(call.args[1], kPageBytes)) &&
         call.args[5] == call.args[0] - library.begin && file.st_dev == library.device &&
         file.st_ino == library.inode;
}

// Makes the stack executable for ld.so, which does so for programs that need it. ld.so passes an
// address in the stack and PROT_GROWSDOWN; this function finds the stack's beginning in the record.
long protect_stack(const TaskRecord& task, const arch::SyscallFrame& call) {
  const uint64_t end = call.args[0] + call.args[1];
  if (!is_own(task, task.stack, end)) return pass_to_kernel(call);
  return raw_syscall(__NR_mprotect, task.stack, end - task.stack,
                     call.args[2] & ~static_cast<unsigned long>(PROT_GROWSDOWN));
}

}  // namespace

const RedirectedFile* find_file(const SpaceHeader& space, uint64_t device, uint64_t inode,
                                uint64_t mtime_ns) {
  // Acquire: pairs with the release in the host that appended the entry.
  const uint32_t count = space.file_count.load(std::memory_order_acquire);
  for (uint32_t n = 0; n < count; ++n) {
    const RedirectedFile& known = space.files[n];
    if (known.inode == inode && known.device == device && known.mtime_ns == mtime_ns) return &known;
  }
  return nullptr;
}

long map_file(TaskRecord& task, const RedirectedFile* file, const arch::SyscallFrame& call) {
  const bool has = file != nullptr && is_text(call) && has_sites(*file, call.args[5], call.args[1]);
  return has ? map_with_sites(task, *file, call) : map(task, call);
}

long map_possible_library(TaskRecord& task, const arch::SyscallFrame& call) {
  struct stat file;
  const bool is_candidate = is_of_linker(call) || is_text(call);
  if (!is_candidate || failed(raw_syscall(__NR_fstat, static_cast<int>(call.args[4]), &file)))
    return map(task, call);
  const bool fixed = (call.args[3] & MAP_FIXED) != 0;
  if (is_of_linker(call) && !fixed && call.args[5] == 0) return map_whole(task, file, call);
  if (is_of_linker(call) && fixed && is_there_already(task, file, call))
    return static_cast<long>(call.args[0]);
  return map_stated_file(task, file, call);
}

long protect_library(TaskRecord& task, const arch::SyscallFrame& call) {
  if ((call.args[2] & PROT_GROWSDOWN) != 0) return protect_stack(task, call);
  if (call.args[2] == PROT_READ) return 0;  // RELRO
  task.library = {};                        // its pages no longer have equal rights
  return pass_to_kernel(call);
}

}  // namespace nagaya::task
