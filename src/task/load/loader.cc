// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/loader.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>

#include "base/same_content.h"
#include "task/load/changed_text.h"
#include "task/load/first_stack.h"
#include "task/load/freestanding/library.h"
#include "task/load/freestanding/partition.h"
#include "task/space/space_memory.h"

namespace nagaya::task {
namespace {

using base::Error;

unsigned long protection(const Elf64_Phdr& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

bool is_written(const Elf64_Phdr& segment) {
  return (segment.p_flags & PF_W) != 0;
}

// Maps one PT_LOAD at base + p_vaddr, with its zero-filled tail. `file`: passed to map_file().
void map_segment(TaskRecord& task, const ElfImage& image, const RedirectedFile* file,
                 const Elf64_Phdr& load, uint64_t base) {
  const uint64_t begin = (base + load.p_vaddr) & ~(kPageBytes - 1);
  const uint64_t file_end = base + load.p_vaddr + load.p_filesz;
  const uint64_t end = round_up(base + load.p_vaddr + load.p_memsz, kPageBytes);
  const uint64_t mapped_end = load.p_filesz == 0 ? begin : round_up(file_end, kPageBytes);
  const auto map_at = [&](uint64_t from, uint64_t to, unsigned long flags, int fd,
                          uint64_t offset) {
    const arch::SyscallFrame call{
        arch::kSysMmap,
        {from, to - from, protection(load), MAP_PRIVATE | MAP_FIXED | flags,
         static_cast<unsigned long>(fd), offset},
        0};
    const long got = map_file(task, file, call);
    if (failed(got)) base::throw_errno("cannot map " + image.path, static_cast<int>(-got));
  };
  if (mapped_end > begin)
    map_at(begin, mapped_end, is_written(load) ? MAP_POPULATE : 0, image.file.get(),
           load.p_offset & ~(kPageBytes - 1));
  if (end > mapped_end) map_at(mapped_end, end, MAP_ANONYMOUS, -1, 0);
  if (mapped_end > file_end && load.p_memsz > load.p_filesz && is_written(load))
    std::memset(reinterpret_cast<void*>(file_end), 0, mapped_end - file_end);
}

// Returns the PT_LOADs; joins unwritable ones that adjoin in file and memory. That makes one
// mapping in place of three, as for redirected libraries (docs/decisions/0006).
std::vector<Elf64_Phdr> joined_loads(const ElfImage& image) {
  std::vector<Elf64_Phdr> loads;
  for (const Elf64_Phdr& segment : image.segments) {
    if (segment.p_type != PT_LOAD) continue;
    Elf64_Phdr* last = loads.empty() ? nullptr : &loads.back();
    if (last == nullptr || is_written(*last) || is_written(segment) ||
        last->p_memsz != last->p_filesz || segment.p_memsz != segment.p_filesz ||
        segment.p_vaddr - last->p_vaddr != segment.p_offset - last->p_offset ||
        round_up(last->p_vaddr + last->p_filesz, kPageBytes) !=
            (segment.p_vaddr & ~(kPageBytes - 1))) {
      loads.push_back(segment);
      continue;
    }
    last->p_flags |= segment.p_flags;
    last->p_filesz = last->p_memsz = segment.p_vaddr + segment.p_filesz - last->p_vaddr;
  }
  return loads;
}

// Returns the address at which the image's virtual address 0 lies.
uint64_t map_image(TaskRecord& task, const ElfImage& image) {
  const uint64_t base = take_for_program(task, image.load_bytes, image.load_alignment);
  const RedirectedFile* file = find_file(*task.space, image.device, image.inode, image.mtime_ns);
  for (const Elf64_Phdr& segment : joined_loads(image))
    map_segment(task, image, file, segment, base);
  return base;
}

// Returns argv for `first`, which is the program itself, or ld.so; argv tells ld.so what to load.
std::vector<std::string> initial_arguments(const ElfImage& first, const ElfImage& program,
                                           const ProgramText& text) {
  std::vector<std::string> arguments{text.name};
  if (&first != &program) {
    arguments = {first.path};
    if (text.name != text.program && first.knows_argv0)
      arguments.insert(arguments.end(), {"--argv0", text.name});
    arguments.push_back(text.program);
  }
  arguments.insert(arguments.end(), text.arguments.begin(), text.arguments.end());
  return arguments;
}

}  // namespace

std::shared_ptr<const ElfImage> ImageCache::get(const std::string& path) {
  constexpr size_t kImagesMax = 16;  // each keeps its file open
  struct stat now {};
  const bool is_there = ::stat(path.c_str(), &now) == 0;
  const auto known = images_.find(path);
  if (known != images_.end() && is_there && base::is_same_content(known->second.file, now))
    return known->second.image;
  auto image = std::make_shared<const ElfImage>(read_elf(path));
  if (images_.size() >= kImagesMax) images_.clear();
  images_[path] = {now, image};
  return image;
}

// Reads each interpreter, and the libc that belongs to it, once in the life of a host.
const ElfImage& Loader::interpreter(const ElfImage& program) {
  auto known = interpreters_.find(program.interpreter);
  if (known == interpreters_.end()) {
    known = interpreters_.emplace(program.interpreter, read_elf(program.interpreter)).first;
    // libc lies beside its ld.so: glibc requires the two to match. (In musl they are one file.)
    std::error_code ignored;  // a file that cannot be examined counts as missing
    const auto linker = std::filesystem::canonical(program.interpreter, ignored);
    const auto libc = linker.parent_path() / "libc.so.6";
    const bool has_libc_beside = std::filesystem::exists(libc, ignored);
    if (!has_libc_beside || !change_linker(space_, known->second))
      know_sites(space_, known->second, has_libc_beside);
    if (has_libc_beside) know_sites(space_, read_elf(libc), false);
  }
  return known->second;
}

void Loader::load(TaskRecord& task, const ProgramText& text, uint64_t stack_limit_bytes,
                  Start& start) {
  const auto program = programs_.get(text.program);
  if (!program->position_independent())
    throw Error(-ENOEXEC, text.program + ": not position-independent, rebuild it with -pie");
  const ElfImage& first = program->interpreter.empty() ? *program : interpreter(*program);
  if (&first == program.get()) know_sites(space_, first, false);
  const FirstStack stack = map_first_stack(task, stack_limit_bytes);
  const uint64_t base = map_image(task, first);
  start.entry = base + first.header.e_entry;
  start.stack_pointer =
      write_first_stack(task, stack, first, base, initial_arguments(first, *program, text), text);
}

}  // namespace nagaya::task
