// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/elf_image.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "arch/arch.h"

namespace nagaya::task {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kAlignmentMaxBytes = 2 << 20;
constexpr uint64_t kUserAddressesEnd = 1ull << 57;
constexpr size_t kStringsMaxBytes = 64 << 20;

[[noreturn]] void refuse(const std::string& path, const std::string& cause) {
  throw base::Error(-ENOEXEC, path + ": " + cause);
}

void read_at(const ElfImage& image, uint64_t offset, void* data, size_t bytes) {
  const ssize_t got = ::pread(image.file.get(), data, bytes, static_cast<off_t>(offset));
  if (got < 0 && errno == EINVAL) refuse(image.path, "damaged ELF file offset");
  if (got < 0) base::throw_errno(image.path);
  if (static_cast<size_t>(got) != bytes) refuse(image.path, "truncated ELF file");
}

void read_header(ElfImage& image) {
  Elf64_Ehdr& h = image.header;
  char magic[EI_NIDENT] = {};
  if (::pread(image.file.get(), magic, sizeof magic, 0) < SELFMAG ||
      std::memcmp(magic, ELFMAG, SELFMAG) != 0)
    refuse(image.path, "not an ELF program, and no script that begins with #!");
  read_at(image, 0, &h, sizeof h);
  if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
      h.e_machine != arch::kElfMachine)
    refuse(image.path, "built for another CPU, rebuild it for this machine");
  if (h.e_type != ET_DYN && h.e_type != ET_EXEC) refuse(image.path, "not an executable ELF file");
  if (h.e_phentsize != sizeof(Elf64_Phdr) || h.e_phnum == 0 || h.e_phnum > 1024)
    refuse(image.path, "damaged ELF program headers");
}

void check_load_segment(const ElfImage& image, const Elf64_Phdr& load, uint64_t file_bytes) {
  if (load.p_filesz > load.p_memsz || load.p_offset > file_bytes ||
      load.p_filesz > file_bytes - load.p_offset)
    refuse(image.path, "truncated or damaged ELF segment");
  if (load.p_vaddr > kUserAddressesEnd || load.p_memsz > kUserAddressesEnd)
    refuse(image.path, "damaged ELF segment size");
  if (load.p_vaddr % kPage != load.p_offset % kPage && image.position_independent())
    refuse(image.path, "damaged ELF segment address");
}

std::string read_interpreter(const ElfImage& image, const Elf64_Phdr& segment) {
  if (segment.p_filesz < 2 || segment.p_filesz > 4096)
    refuse(image.path, "damaged ELF interpreter name");
  std::string name(segment.p_filesz, '\0');
  read_at(image, segment.p_offset, name.data(), name.size());
  if (name.front() == '\0' || name.back() != '\0')
    refuse(image.path, "damaged ELF interpreter name");
  return name.c_str();
}

void check_entry(const ElfImage& image) {
  const uint64_t entry = image.header.e_entry;
  if (entry == 0 && image.interpreter.empty()) return;  // a library: it has no entry
  for (const Elf64_Phdr& load : image.segments)
    if (load.p_type == PT_LOAD && (load.p_flags & PF_X) != 0 && entry >= load.p_vaddr &&
        entry - load.p_vaddr < load.p_filesz)
      return;
  refuse(image.path, "damaged ELF: entry address outside its text");
}

void read_segments(ElfImage& image, uint64_t file_bytes) {
  image.segments.resize(image.header.e_phnum);
  read_at(image, image.header.e_phoff, image.segments.data(),
          image.segments.size() * sizeof(Elf64_Phdr));
  uint64_t previous_end = 0;
  image.load_alignment = kPage;
  for (const Elf64_Phdr& segment : image.segments) {
    if (segment.p_type == PT_INTERP) image.interpreter = read_interpreter(image, segment);
    if (segment.p_type != PT_LOAD) continue;
    check_load_segment(image, segment, file_bytes);
    if (segment.p_vaddr < previous_end) refuse(image.path, "overlapping ELF segments");
    previous_end = segment.p_vaddr + segment.p_memsz;
    if (std::has_single_bit(segment.p_align) && segment.p_align <= kAlignmentMaxBytes)
      image.load_alignment = std::max(image.load_alignment, segment.p_align);
    if (image.header.e_phoff - segment.p_offset < segment.p_filesz)
      image.headers_address = segment.p_vaddr + image.header.e_phoff - segment.p_offset;
  }
  if (previous_end == 0) refuse(image.path, "ELF file without anything to load");
  check_entry(image);
  image.load_bytes = (previous_end + kPage - 1) / kPage * kPage;
}

// Returns the dynamic string table, "" when there is none.
std::string dynamic_strings(const ElfImage& image) {
  uint64_t strings = 0, strings_bytes = 0;
  for (const Elf64_Phdr& segment : image.segments) {
    if (segment.p_type != PT_DYNAMIC || segment.p_filesz > (1 << 20)) continue;
    std::vector<Elf64_Dyn> entries(segment.p_filesz / sizeof(Elf64_Dyn));
    read_at(image, segment.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn));
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) strings_bytes = entry.d_un.d_val;
    }
  }
  for (const Elf64_Phdr& load : image.segments) {
    if (load.p_type != PT_LOAD || strings_bytes == 0 || strings_bytes > kStringsMaxBytes ||
        strings < load.p_vaddr || strings - load.p_vaddr > load.p_filesz ||
        strings_bytes > load.p_filesz - (strings - load.p_vaddr))
      continue;
    std::string text(strings_bytes, '\0');
    read_at(image, load.p_offset + strings - load.p_vaddr, text.data(), text.size());
    return text;
  }
  return "";
}

bool text_contains(const ElfImage& image, std::string_view wanted) {
  for (const Elf64_Phdr& load : image.segments) {
    if (load.p_type != PT_LOAD || load.p_filesz > kStringsMaxBytes) continue;
    std::string bytes(load.p_filesz, '\0');
    read_at(image, load.p_offset, bytes.data(), bytes.size());
    if (bytes.find(wanted) != std::string::npos) return true;
  }
  return false;
}

// Searches the program for messages of the sanitizers. Names would not do: a statically linked
// runtime in a stripped program leaves only those of the hooks that all sanitizers call, and the
// undefined-behaviour sanitizer, which may stay because it has no shadow, calls them, too.
bool is_sanitized(const ElfImage& image) {
  const std::string strings = dynamic_strings(image);
  const auto names = [&](const char* name) { return strings.find(name) != std::string::npos; };
  const auto says = [&](const char* text) { return text_contains(image, text); };
  constexpr const char* kNames[] = {"__asan_init", "__tsan_init", "__msan_init", "__lsan_init",
                                    "liblsan.so"};
  if (std::any_of(std::begin(kNames), std::end(kNames), names)) return true;
  constexpr const char* kMessages[] = {"WARNING: AddressSanitizer", "WARNING: ThreadSanitizer",
                                       "WARNING: MemorySanitizer", "ERROR: LeakSanitizer"};
  return names("__sanitizer_") && std::any_of(std::begin(kMessages), std::end(kMessages), says);
}

}  // namespace

ElfImage read_elf(const std::string& path) {
  ElfImage image{};
  image.path = path;
  image.file = base::checked_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), path);
  struct stat about;
  if (::fstat(image.file.get(), &about) != 0) base::throw_errno(path);
  if (S_ISDIR(about.st_mode)) throw base::Error(-EISDIR, path + ": is a directory");
  if (!S_ISREG(about.st_mode)) throw base::Error(-EACCES, path + ": not a regular file");
  image.device = about.st_dev;
  image.inode = about.st_ino;
  image.mtime_ns = about.st_mtim.tv_sec * 1000000000ull + about.st_mtim.tv_nsec;
  read_header(image);
  read_segments(image, static_cast<uint64_t>(about.st_size));
  // A sanitizer's shadow has one fixed address per address space: two such tasks cannot share one.
  // The leak sanitizer, which has none, stops all threads of its process and reads all memory.
  image.sanitized = is_sanitized(image);
  image.knows_argv0 = image.interpreter.empty() && text_contains(image, "argv0");
  return image;
}

}  // namespace nagaya::task
