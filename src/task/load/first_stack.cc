// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/first_stack.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "task/load/freestanding/partition.h"
#include "task/space/space_memory.h"

// Defined by glibc: the address of argc on the stack that the kernel has written.
extern "C" void* __libc_stack_end;

namespace nagaya::task {
namespace {

using base::Error;

constexpr uint64_t kStackUnlimitedBytes = 16ull << 30;
constexpr uint64_t kStackMinBytes = 256 << 10;
// Unmapped gaps on both sides of the stack; below it as large as the kernel's own gap
// (stack_guard_gap).
constexpr uint64_t kGapBelowBytes = 1 << 20;
constexpr uint64_t kGapAboveBytes = kPageBytes;

// The initial stack of the ABI, written downwards from `top`.
class StackWriter {
 public:
  StackWriter(uint64_t top, uint64_t room_bytes) : at_(top), floor_(top - room_bytes) {}

  uint64_t bytes(const void* data, size_t size) {
    if (at_ - floor_ < size)
      throw Error(-E2BIG, "arguments and environment are too long for a quarter of the stack");
    at_ -= size;
    std::memcpy(reinterpret_cast<void*>(at_), data, size);
    return at_;
  }
  uint64_t text(const std::string& text) { return bytes(text.c_str(), text.size() + 1); }
  std::vector<uint64_t> texts(const std::vector<std::string>& all) {
    std::vector<uint64_t> addresses;
    for (const std::string& one : all) addresses.push_back(text(one));
    return addresses;
  }
  void align(uint64_t alignment) { at_ &= ~(alignment - 1); }

 private:
  uint64_t at_, floor_;
};

// Returns the host's own auxiliary vector, from which every task's is made by replacing the
// entries about the program. Reads it from the host's first stack, {argc, argv..., 0, envp..., 0,
// auxv..., AT_NULL}: a process that is not dumpable, or may not read its own program, cannot open
// /proc/self/auxv.
std::vector<Elf64_auxv_t> host_auxv() {
  const auto* word = static_cast<const uint64_t*>(__libc_stack_end);
  word += 1 + *word + 1;  // argc, argv, its end
  while (*word++ != 0) continue;
  std::vector<Elf64_auxv_t> all;
  for (const auto* entry = reinterpret_cast<const Elf64_auxv_t*>(word); entry->a_type != AT_NULL;
       ++entry)
    all.push_back(*entry);
  return all;
}

std::vector<Elf64_auxv_t> task_auxv(TaskRecord& task, const ElfImage& image, uint64_t base,
                                    const std::string& program, StackWriter& stack) {
  uint8_t random[16];
  base::fill_random(random);
  std::vector<Elf64_auxv_t> all = host_auxv();
  for (Elf64_auxv_t& entry : all) {
    uint64_t& value = entry.a_un.a_val;
    switch (entry.a_type) {
      case AT_PHDR:
        value = base + image.headers_address;
        break;
      case AT_PHNUM:
        value = image.header.e_phnum;
        break;
      case AT_ENTRY:
        value = base + image.header.e_entry;
        break;
      case AT_BASE:  // ld.so sees by AT_ENTRY that it is the program; libraries look for ld.so here
        value = image.path == program ? 0 : base;
        break;
      case AT_RANDOM:
        value = stack.bytes(random, sizeof random);
        break;
      case AT_EXECFN:
        value = stack.text(program);
        break;
      case AT_PLATFORM:
      case AT_BASE_PLATFORM:
        value = stack.text(reinterpret_cast<const char*>(value));
        break;
      default:
        break;
    }
  }
  all.push_back({kAuxvType, {reinterpret_cast<uint64_t>(&task)}});
  all.push_back({AT_NULL, {0}});
  return all;
}

}  // namespace

FirstStack map_first_stack(TaskRecord& task, uint64_t limit_bytes) {
  uint64_t bytes =
      limit_bytes == RLIM_INFINITY ? kStackUnlimitedBytes : round_up(limit_bytes, kPageBytes);
  bytes = std::clamp(bytes, kStackMinBytes, task.range_bytes / 2);
  const uint64_t begin =
      take_for_program(task, kGapBelowBytes + bytes + kGapAboveBytes, kPageBytes);
  const uint64_t bottom = begin + kGapBelowBytes;
  // Whole, not MAP_GROWSDOWN: that would grow into another task's partition when a program raises
  // its limit.
  if (::mmap(reinterpret_cast<void*>(bottom), bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1,
             0) == MAP_FAILED)
    base::throw_errno("cannot map the stack");
  task.stack = bottom;
  return {bottom + bytes, bytes};
}

uint64_t write_first_stack(TaskRecord& task, const FirstStack& mapped, const ElfImage& image,
                           uint64_t base, const std::vector<std::string>& arguments,
                           const ProgramText& text) {
  StackWriter stack(mapped.top, mapped.bytes / 4);
  // The kernel writes this zero word, too. ld.so reads behind the end of some settings to see
  // whether another string follows.
  constexpr uint64_t kNoString = 0;
  stack.bytes(&kNoString, sizeof kNoString);
  task.program = reinterpret_cast<const char*>(stack.text(text.program));
  const std::vector<uint64_t> envp = stack.texts(text.environment);
  const std::vector<uint64_t> argv = stack.texts(arguments);
  const std::vector<Elf64_auxv_t> auxv = task_auxv(task, image, base, text.program, stack);

  std::vector<uint64_t> words{argv.size()};
  words.insert(words.end(), argv.begin(), argv.end());
  words.push_back(0);
  words.insert(words.end(), envp.begin(), envp.end());
  words.push_back(0);
  for (const Elf64_auxv_t& entry : auxv)
    words.insert(words.end(), {entry.a_type, entry.a_un.a_val});
  if (words.size() % 2 != 0) words.push_back(0);  // argc lies at a multiple of 16
  stack.align(16);
  return stack.bytes(words.data(), words.size() * sizeof(uint64_t));
}

}  // namespace nagaya::task
