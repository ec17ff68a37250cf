// SPDX-License-Identifier: BSD-3-Clause
#include "observe/task_core.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <sys/user.h>

#include <algorithm>
#include <cstring>

#include "base/fd.h"
#include "task/space/space.h"

namespace nagaya::tools {
namespace {

using base::Error;

constexpr size_t kPathMaxBytes = 4096;

// The contents of a core file's notes.
struct Notes {
  std::vector<uint64_t> stack_pointers;  // one for each thread
  std::vector<FileMapping> files;
};

class CoreFile {
 public:
  explicit CoreFile(const std::string& path) : path_(path) {
    const base::Fd file = base::checked_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path);
    struct stat about;
    if (::fstat(file.get(), &about) != 0) base::throw_errno(path);
    bytes_ = static_cast<size_t>(about.st_size);
    if (bytes_ < sizeof(Elf64_Ehdr)) refuse("no core file");
    void* base = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (base == MAP_FAILED) base::throw_errno(path);
    content_ = base::Mapping(base, bytes_);
    read_headers();
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(-ENOEXEC, path_ + ": " + why);
  }

  // Returns the memory from `address` to the end of its segment, as far as the file holds it.
  std::pair<const std::byte*, size_t> memory_from(uint64_t address) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
          address - segment.p_vaddr >= segment.p_filesz)
        continue;
      const uint64_t into = address - segment.p_vaddr;
      return {in_file(segment.p_offset + into, segment.p_filesz - into), segment.p_filesz - into};
    }
    return {nullptr, 0};
  }

  // Returns `address` if the file holds it, else the address at which the memory above it begins:
  // after an overflow the stack's memory ends above the stack pointer.
  uint64_t memory_at_or_above(uint64_t address) const {
    uint64_t nearest = ~uint64_t{0};
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || segment.p_filesz > ~segment.p_vaddr ||
          segment.p_vaddr + segment.p_filesz <= address)
        continue;
      nearest = std::min(nearest, std::max(address, segment.p_vaddr));
    }
    return nearest;
  }

  // Reads the notes, which the kernel writes into one segment.
  Notes notes() const {
    Notes notes;
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_NOTE) continue;
      read_notes(segment, notes);
      break;
    }
    return notes;
  }

 private:
  const std::byte* in_file(uint64_t offset, uint64_t bytes) const {
    if (offset > bytes_ || bytes > bytes_ - offset) refuse("cut off");
    return content_.data() + offset;
  }

  void read_headers() {
    Elf64_Ehdr header;
    std::memcpy(&header, content_.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_CORE ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
      refuse("no core file");
    uint64_t count = header.e_phnum;
    if (count == PN_XNUM) {  // more than 65534: the first section header has their number
      Elf64_Shdr section;
      std::memcpy(&section, in_file(header.e_shoff, sizeof section), sizeof section);
      count = section.sh_info;
    }
    const uint64_t bytes = count * sizeof(Elf64_Phdr);
    const std::byte* const in_core = in_file(header.e_phoff, bytes);
    if (count == 0) refuse("holds no memory");
    segments_.resize(count);
    std::memcpy(segments_.data(), in_core, bytes);
  }

  void read_notes(const Elf64_Phdr& segment, Notes& notes) const {
    const std::byte* at = in_file(segment.p_offset, segment.p_filesz);
    const std::byte* const end = at + segment.p_filesz;
    Elf64_Nhdr note;
    while (static_cast<size_t>(end - at) >= sizeof note) {
      std::memcpy(&note, at, sizeof note);
      const uint64_t name = (uint64_t{note.n_namesz} + 3) & ~uint64_t{3};
      const uint64_t content = (uint64_t{note.n_descsz} + 3) & ~uint64_t{3};
      at += sizeof note;
      if (name + content > static_cast<uint64_t>(end - at)) refuse("its notes are malformed");
      const std::string text(reinterpret_cast<const char*>(at + name), note.n_descsz);
      if (note.n_type == NT_PRSTATUS && text.size() >= sizeof(elf_prstatus))
        add_thread(text, notes);
      if (note.n_type == NT_FILE) add_files(text, notes);
      at += name + content;
    }
  }

  static void add_thread(const std::string& text, Notes& notes) {
    elf_prstatus status;
    std::memcpy(&status, text.data(), sizeof status);
    user_regs_struct registers;
    std::memcpy(&registers, &status.pr_reg, sizeof registers);
    notes.stack_pointers.push_back(registers.rsp);
  }

  // {count, page size, count times {begin, end, offset in pages}, count times a path}
  void add_files(const std::string& text, Notes& notes) const {
    const auto word = [&text](uint64_t n) {
      uint64_t value = 0;
      std::memcpy(&value, text.data() + n * sizeof value, sizeof value);
      return value;
    };
    const uint64_t words = text.size() / sizeof(uint64_t);
    if (words < 2 || word(0) > (words - 2) / 3) refuse("its list of files is malformed");
    const uint64_t count = word(0), page_bytes = word(1);
    size_t path_at = (2 + 3 * count) * sizeof(uint64_t);
    for (uint64_t n = 0; n < count && path_at < text.size(); ++n) {
      const std::string path(text.c_str() + path_at);
      path_at += path.size() + 1;
      notes.files.push_back(
          {{word(2 + 3 * n), word(3 + 3 * n)}, word(4 + 3 * n) * page_bytes, path});
    }
  }

  std::string path_;
  size_t bytes_ = 0;
  base::Mapping content_;
  std::vector<Elf64_Phdr> segments_;
};

// Finds the task's record. A task's first thread runs on the stack that the host has written: above
// the part in use lies the auxiliary vector, with an entry that leads to the record.
const task::TaskRecord* find_record(const CoreFile& core, uint64_t stack_pointer) {
  const auto [stack, bytes] =
      core.memory_from(core.memory_at_or_above(stack_pointer & ~uint64_t{7}));
  for (size_t at = 0; at + 2 * sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
    uint64_t entry[2];
    std::memcpy(entry, stack + at, sizeof entry);
    if (entry[0] != task::kAuxvType) continue;
    const auto [memory, record_bytes] = core.memory_from(entry[1]);
    const bool is_aligned = reinterpret_cast<uintptr_t>(memory) % alignof(task::TaskRecord) == 0;
    if (record_bytes < sizeof(task::TaskRecord) || !is_aligned) continue;
    const auto* record = reinterpret_cast<const task::TaskRecord*>(memory);
    if (record->stamp.matches(sizeof(task::TaskRecord))) return record;
  }
  return nullptr;
}

std::string text_at(const CoreFile& core, const void* address) {
  const auto [memory, bytes] = core.memory_from(reinterpret_cast<uint64_t>(address));
  const char* text = reinterpret_cast<const char*>(memory);
  return memory == nullptr ? ""
                           : std::string(text, ::strnlen(text, std::min(bytes, kPathMaxBytes)));
}

}  // namespace

CoreTask read_task_core(const std::string& path) {
  const CoreFile core(path);
  Notes notes = core.notes();
  const task::TaskRecord* record = nullptr;
  for (uint64_t stack_pointer : notes.stack_pointers)
    if (record == nullptr) record = find_record(core, stack_pointer);
  if (record == nullptr) core.refuse("not of a task of this version of nagaya: use gdb itself");
  return {.number = record->number,
          .pid = record->pid.load(std::memory_order_relaxed),
          .program = text_at(core, record->program),
          .partition = {{record->home, record->home + task::kHomeBytes},
                        {record->range, record->range + record->range_bytes}},
          .files = std::move(notes.files)};
}

}  // namespace nagaya::tools
