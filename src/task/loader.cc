// SPDX-License-Identifier: BSD-3-Clause
#include "task/loader.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/random.h"
#include "base/same_content.h"
#include "task/freestanding/library.h"

namespace nagaya::task {
namespace {

using base::Error;

constexpr uint64_t kStackUnlimitedBytes = 16ull << 30;
constexpr uint64_t kStackMinBytes = 256 << 10;
// Addresses on both sides of the stack where nothing is ever mapped; below as many as the kernel
// keeps free below its own stacks (stack_guard_gap).
constexpr uint64_t kGapBelowBytes = 1 << 20;
constexpr uint64_t kGapAboveBytes = kPageBytes;

uint64_t round_up(uint64_t bytes) {
  return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

uint64_t take(TaskRecord& task, uint64_t bytes, uint64_t alignment = kPageBytes) {
  const uint64_t at = task.ranges.take(bytes, alignment);
  if (at == 0) throw Error(-ENOMEM, "the partition has no room for the program");
  return at;
}

void map_at(uint64_t address, uint64_t bytes, int prot, int flags, int fd, uint64_t offset,
            const std::string& what) {
  void* got = ::mmap(reinterpret_cast<void*>(address), bytes, prot, MAP_PRIVATE | MAP_FIXED | flags,
                     fd, static_cast<off_t>(offset));
  if (got == MAP_FAILED) base::throw_errno("cannot map " + what);
}

int protection(const Elf64_Phdr& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// Maps one PT_LOAD at base + p_vaddr with `prot`, with its zero-filled tail.
void map_segment(const ElfImage& image, const Elf64_Phdr& load, uint64_t base, int prot) {
  const uint64_t begin = (base + load.p_vaddr) & ~(kPageBytes - 1);
  const uint64_t file_end = base + load.p_vaddr + load.p_filesz;
  const uint64_t end = round_up(base + load.p_vaddr + load.p_memsz);
  const uint64_t mapped_end = load.p_filesz == 0 ? begin : round_up(file_end);
  if (mapped_end > begin)
    map_at(begin, mapped_end - begin, prot, (load.p_flags & PF_W) != 0 ? MAP_POPULATE : 0,
           image.file.get(), load.p_offset & ~(kPageBytes - 1), image.path);
  if (end > mapped_end)
    map_at(mapped_end, end - mapped_end, prot, MAP_ANONYMOUS, -1, 0, image.path);
  if (mapped_end > file_end && load.p_memsz > load.p_filesz && (load.p_flags & PF_W) != 0)
    std::memset(reinterpret_cast<void*>(file_end), 0, mapped_end - file_end);
}

const RedirectedFile* find_sites(const SpaceHeader& space, const ElfImage& image) {
  const uint32_t count = space.file_count.load(std::memory_order_relaxed);
  const auto* known = std::find_if(space.files, space.files + count, [&](const auto& file) {
    return file.device == image.device && file.inode == image.inode &&
           file.mtime_ns == image.mtime_ns;
  });
  return known == space.files + count ? nullptr : known;
}

bool is_written(const Elf64_Phdr& segment) {
  return (segment.p_flags & PF_W) != 0;
}

// The PT_LOADs, those that are not written joined where they adjoin in file and memory: one mapping
// in place of three, as redirected libraries have it (docs/decisions/0006).
std::vector<Elf64_Phdr> joined_loads(const ElfImage& image) {
  std::vector<Elf64_Phdr> loads;
  for (const Elf64_Phdr& segment : image.segments) {
    if (segment.p_type != PT_LOAD) continue;
    Elf64_Phdr* last = loads.empty() ? nullptr : &loads.back();
    if (last == nullptr || is_written(*last) || is_written(segment) ||
        last->p_memsz != last->p_filesz || segment.p_memsz != segment.p_filesz ||
        segment.p_vaddr - last->p_vaddr != segment.p_offset - last->p_offset ||
        round_up(last->p_vaddr + last->p_filesz) != (segment.p_vaddr & ~(kPageBytes - 1))) {
      loads.push_back(segment);
      continue;
    }
    last->p_flags |= segment.p_flags;
    last->p_filesz = last->p_memsz = segment.p_vaddr + segment.p_filesz - last->p_vaddr;
  }
  return loads;
}

// Is a private copy of text, once written, executable? Tried: SELinux, MDWE and filters differ.
bool text_may_be_changed(const ElfImage& image) {
  void* page =
      ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, image.file.get(), 0);
  if (page == MAP_FAILED) return false;
  *static_cast<volatile std::byte*>(page) = std::byte{0};
  const bool may = ::mprotect(page, kPageBytes, PROT_READ | PROT_EXEC) == 0;
  ::munmap(page, kPageBytes);
  return may;
}

// The file with `sites` rewritten, in memory. Not open when even that is refused.
base::Fd changed_file(const SpaceHeader& space, const ElfImage& image,
                      std::span<const arch::RedirectSite> sites) {
  struct stat about;
  base::Fd file(::memfd_create("nagaya-changed-text", MFD_CLOEXEC));
  if (!file || ::fstat(image.file.get(), &about) != 0) return {};
  std::vector<std::byte> bytes(static_cast<size_t>(about.st_size));
  if (::pread(image.file.get(), bytes.data(), bytes.size(), 0) != about.st_size) return {};
  for (const arch::RedirectSite& site : sites)
    arch::rewrite_site(bytes.data() + site.offset_bytes, site, space.redirect_table);
  if (::write(file.get(), bytes.data(), bytes.size()) != about.st_size) return {};
  return file;
}

// That file mapped as text for the host's life: executable from the start, which needs no change of
// rights. 0 when even that is refused. (A debugger cannot set breakpoints there: the pages are
// shared.)
uint64_t changed_copy(const SpaceHeader& space, const ElfImage& image,
                      std::span<const arch::RedirectSite> sites) {
  const base::Fd file = changed_file(space, image, sites);
  struct stat about;
  if (!file || ::fstat(file.get(), &about) != 0) return 0;
  void* at = ::mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ | PROT_EXEC, MAP_SHARED,
                    file.get(), 0);
  return at == MAP_FAILED ? 0 : reinterpret_cast<uint64_t>(at);
}

// All of the image's sites; none when its text cannot be read. What is only a dynamic linker has
// its mprotect redirected, never the program's own calls, and its questions to the processor
// answered.
std::vector<arch::RedirectSite> sites_of(const SpaceHeader& space, const ElfImage& image,
                                         bool is_only_linker) {
  std::vector<arch::RedirectSite> all;
  for (const Elf64_Phdr& segment : image.segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    std::vector<std::byte> text(segment.p_filesz);
    if (::pread(image.file.get(), text.data(), text.size(), static_cast<off_t>(segment.p_offset)) !=
        static_cast<ssize_t>(text.size()))
      return {};
    std::vector<arch::RedirectSite> sites = arch::find_redirect_sites(text);
    if (is_only_linker) {
      const auto answered = arch::make_answer_sites(text, space.redirect_table);
      sites.insert(sites.end(), answered.begin(), answered.end());
    }
    for (arch::RedirectSite site : sites) {
      if (site.number == arch::kSysMprotect && !is_only_linker) continue;
      site.offset_bytes += static_cast<uint32_t>(segment.p_offset);
      all.push_back(site);
    }
  }
  return all;
}

// Returns the address at which the image's virtual address 0 lies.
uint64_t map_image(TaskRecord& task, const ElfImage& image) {
  const uint64_t base = take(task, image.load_bytes, image.load_alignment);
  const RedirectedFile* sites = find_sites(*task.space, image);
  for (const Elf64_Phdr& segment : joined_loads(image)) {
    const uint64_t skew = segment.p_vaddr % kPageBytes;
    const uint64_t offset = segment.p_offset - skew, bytes = round_up(segment.p_filesz + skew);
    if ((segment.p_flags & PF_X) != 0 && sites != nullptr && has_sites(*sites, offset, bytes)) {
      if (sites->changed_copy != 0 &&
          lay_changed_copy(*sites, base + segment.p_vaddr - skew, bytes, offset))
        continue;
      map_segment(image, segment, base, PROT_READ | PROT_WRITE);
      if (redirect_sites(*task.space, *sites, base + segment.p_vaddr - skew, bytes, offset,
                         protection(segment)))
        continue;
    }
    map_segment(image, segment, base, protection(segment));
  }
  return base;
}

// The stack grows down from the returned address. It is mapped whole and not MAP_GROWSDOWN, which
// would let it grow into another task's partition when a program raises its limit.
uint64_t map_stack(TaskRecord& task, uint64_t limit_bytes, uint64_t* stack_bytes) {
  uint64_t bytes = limit_bytes == RLIM_INFINITY ? kStackUnlimitedBytes : round_up(limit_bytes);
  bytes = std::clamp(bytes, kStackMinBytes, task.range_bytes / 2);
  const uint64_t bottom = take(task, kGapBelowBytes + bytes + kGapAboveBytes) + kGapBelowBytes;
  map_at(bottom, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0,
         "the stack");
  task.stack = bottom;
  *stack_bytes = bytes;
  return bottom + bytes;
}

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

// The host's own auxiliary vector serves every task but for what tells the program from the host.
const std::vector<Elf64_auxv_t>& host_auxv() {
  static const std::vector<Elf64_auxv_t> all = [] {
    std::ifstream file("/proc/self/auxv", std::ios::binary);
    const std::vector<char> raw{std::istreambuf_iterator<char>(file), {}};
    std::vector<Elf64_auxv_t> entries(raw.size() / sizeof(Elf64_auxv_t));
    std::memcpy(entries.data(), raw.data(), entries.size() * sizeof(Elf64_auxv_t));
    std::erase_if(entries, [](const auto& entry) { return entry.a_type == AT_NULL; });
    return entries;
  }();
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

uint64_t write_stack(TaskRecord& task, const ElfImage& image, uint64_t base, uint64_t top,
                     uint64_t stack_bytes, const std::vector<std::string>& arguments,
                     const ProgramText& text) {
  StackWriter stack(top, stack_bytes / 4);
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

// argv of `first`: the program itself, or ld.so, which is told what to load.
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

// Reads the auxiliary vector at once: a host that must not be dumped cannot later.
Loader::Loader(SpaceHeader& space) : space_(space) {
  host_auxv();
}

// Appends the sites of `image` to the table that all tasks read. Sites of text that cannot be
// proved safe stay as they are: such a libc maps where the kernel likes.
void Loader::know_sites(const ElfImage& image, bool is_only_linker) {
  const uint32_t count = space_.file_count.load(std::memory_order_relaxed);
  if (space_.redirect_table == 0 || count == std::size(space_.files) ||
      find_sites(space_, image) != nullptr)
    return;
  RedirectedFile& known = space_.files[count];
  known = {image.device, image.inode, image.mtime_ns, 0, 0, 0, {}};
  const auto sites = sites_of(space_, image, is_only_linker);
  known.site_count = static_cast<uint32_t>(std::min(sites.size(), std::size(known.sites)));
  std::copy_n(sites.begin(), known.site_count, known.sites);
  if (known.site_count != 0 && !text_may_be_changed(image))
    known.changed_copy = changed_copy(space_, image, {known.sites, known.site_count});
  // Release: pairs with the acquire of the tasks that search the table.
  space_.file_count.store(count + 1, std::memory_order_release);
}

// All tasks have their linker from one changed file: nobody copies and protects pages once more,
// and nobody misses the symbols of what only starts programs. False: the system has no such file.
bool Loader::change_linker(ElfImage& linker) {
  if (space_.redirect_table == 0) return false;
  base::Fd changed = changed_file(space_, linker, sites_of(space_, linker, true));
  if (!changed) return false;
  void* const page =
      ::mmap(nullptr, kPageBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, changed.get(), 0);
  if (page == MAP_FAILED) return false;
  ::munmap(page, kPageBytes);
  linker.file = std::move(changed);
  return true;
}

// The interpreters are read once in the life of a host, and so is the libc that belongs to each.
const ElfImage& Loader::interpreter(const ElfImage& program) {
  auto known = interpreters_.find(program.interpreter);
  if (known == interpreters_.end()) {
    known = interpreters_.emplace(program.interpreter, read_elf(program.interpreter)).first;
    // libc lies beside its ld.so: glibc requires the two to match. (In musl they are one file.)
    std::error_code ignored;  // what cannot be looked at is not there
    const auto linker = std::filesystem::canonical(program.interpreter, ignored);
    const auto libc = linker.parent_path() / "libc.so.6";
    const bool has_libc_beside = std::filesystem::exists(libc, ignored);
    if (!has_libc_beside || !change_linker(known->second))
      know_sites(known->second, has_libc_beside);
    if (has_libc_beside) know_sites(read_elf(libc), false);
  }
  return known->second;
}

void Loader::load(TaskRecord& task, const ProgramText& text, uint64_t stack_limit_bytes,
                  Start& start) {
  const auto program = programs_.get(text.program);
  if (!program->position_independent())
    throw Error(-ENOEXEC, text.program + ": not position-independent, rebuild it with -pie");
  const ElfImage& first = program->interpreter.empty() ? *program : interpreter(*program);
  if (&first == program.get()) know_sites(first, false);
  uint64_t stack_bytes = 0;
  const uint64_t top = map_stack(task, stack_limit_bytes, &stack_bytes);
  const uint64_t base = map_image(task, first);
  start.entry = base + first.header.e_entry;
  start.stack_pointer = write_stack(task, first, base, top, stack_bytes,
                                    initial_arguments(first, *program, text), text);
}

}  // namespace nagaya::task
