// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/changed_text.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "task/load/freestanding/library.h"

namespace nagaya::task {
namespace {

// Tests by trying whether a private mapping of text may be executed after it was written: SELinux,
// MDWE and filters differ.
bool text_may_be_changed(const ElfImage& image) {
  void* page =
      ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, image.file.get(), 0);
  if (page == MAP_FAILED) return false;
  *static_cast<volatile std::byte*>(page) = std::byte{0};
  const bool may = ::mprotect(page, kPageBytes, PROT_READ | PROT_EXEC) == 0;
  ::munmap(page, kPageBytes);
  return may;
}

// Returns a memory file (memfd) with a copy of the image's file in which `sites` are rewritten; a
// closed Fd when the system refuses it.
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

// Maps the changed file as text for the host's life, executable from the start, which needs no
// change of rights. Returns its address, 0 when the system refuses even that. (A debugger cannot
// set breakpoints there: the pages are shared.)
uint64_t changed_copy(const SpaceHeader& space, const ElfImage& image,
                      std::span<const arch::RedirectSite> sites) {
  const base::Fd file = changed_file(space, image, sites);
  struct stat about;
  if (!file || ::fstat(file.get(), &about) != 0) return 0;
  void* at = ::mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ | PROT_EXEC, MAP_SHARED,
                    file.get(), 0);
  return at == MAP_FAILED ? 0 : reinterpret_cast<uint64_t>(at);
}

// Returns all sites of the image; none when its text cannot be read. In an image that is only a
// dynamic linker, mprotect sites call protect_library(), and cpuid sites are answered.
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
      if (site.number == arch::kSysMprotect && is_only_linker)
        site.slot = arch::kLinkerMprotectSlot;
      site.offset_bytes += static_cast<uint32_t>(segment.p_offset);
      all.push_back(site);
    }
  }
  return all;
}

}  // namespace

void know_sites(SpaceHeader& space, const ElfImage& image, bool is_only_linker) {
  const uint32_t count = space.file_count.load(std::memory_order_relaxed);
  if (space.redirect_table == 0 || count == std::size(space.files) ||
      find_file(space, image.device, image.inode, image.mtime_ns) != nullptr)
    return;
  RedirectedFile& known = space.files[count];
  known = {image.device, image.inode, image.mtime_ns, 0, 0, 0, {}};
  const auto sites = sites_of(space, image, is_only_linker);
  known.site_count = static_cast<uint32_t>(std::min(sites.size(), std::size(known.sites)));
  std::copy_n(sites.begin(), known.site_count, known.sites);
  if (known.site_count != 0 && !text_may_be_changed(image))
    known.changed_copy = changed_copy(space, image, {known.sites, known.site_count});
  // Release: pairs with the acquire of the tasks that search the table.
  space.file_count.store(count + 1, std::memory_order_release);
}

bool change_linker(const SpaceHeader& space, ElfImage& linker) {
  if (space.redirect_table == 0) return false;
  base::Fd changed = changed_file(space, linker, sites_of(space, linker, true));
  if (!changed) return false;
  void* const page =
      ::mmap(nullptr, kPageBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, changed.get(), 0);
  if (page == MAP_FAILED) return false;
  ::munmap(page, kPageBytes);
  linker.file = std::move(changed);
  return true;
}

}  // namespace nagaya::task
