// SPDX-License-Identifier: BSD-3-Clause
// The libc and the dynamic linker of this machine: every wrapper that must be redirected has a site
// (glibc 2.41's mmap has two, one of them for MAP_32BIT), and no site lies anywhere else.
#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "arch/arch.h"
#include "task/load/elf_image.h"

namespace nagaya::arch {
namespace {

struct Text {
  uint64_t address;  // virtual address of its first byte
  std::vector<std::byte> bytes;
};

Text text_of(const std::string& path) {
  const task::ElfImage image = task::read_elf(path);
  for (const Elf64_Phdr& segment : image.segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    Text text{segment.p_vaddr, std::vector<std::byte>(segment.p_filesz)};
    EXPECT_EQ(::pread(image.file.get(), text.bytes.data(), text.bytes.size(),
                      static_cast<off_t>(segment.p_offset)),
              static_cast<ssize_t>(text.bytes.size()));
    return text;
  }
  ADD_FAILURE() << path << " has no text";
  return {};
}

std::string libc_path() {
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(&::gnu_get_libc_version), &info);
  return std::filesystem::canonical(info.dli_fname);
}

// The virtual address in the file of the function `name` of the running libc, and its size.
std::pair<uint64_t, uint64_t> function_of_libc(const char* name) {
  Dl_info info{};
  Elf64_Sym* symbol = nullptr;
  void* handle = ::dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(
      ::dladdr1(::dlsym(handle, name), &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT),
      0);
  return {symbol->st_value, symbol->st_size};
}

unsigned count_of(const std::vector<RedirectSite>& sites, unsigned number) {
  return static_cast<unsigned>(std::count_if(
      sites.begin(), sites.end(), [&](const RedirectSite& site) { return site.number == number; }));
}

TEST(SystemLibc, HasSitesInEachWrapperAndNowhereElse) {
  const Text text = text_of(libc_path());
  const auto sites = find_redirect_sites(text.bytes);
  const std::map<unsigned, std::vector<const char*>> wrappers = {
      {kSysMmap, {"mmap"}},
      {kSysMunmap, {"munmap"}},
      {kSysMremap, {"mremap"}},
      {kSysShmat, {"shmat"}},
      {kSysShmdt, {"shmdt"}},
      {kSysReadlink, {"readlink"}},
      {kSysReadlinkat, {"readlinkat"}},
      {kSysMprotect, {"mprotect"}},
      {kSysExecve, {"execve"}},
      {kSysMadvise, {"madvise", "posix_madvise"}},
      {kSysMlock, {"mlock", "mlock2"}},
      {kSysMlock2, {"mlock2"}},
      {kSysMunlock, {"munlock"}},
      {kSysPkeyMprotect, {"pkey_mprotect"}}};
  for (const auto& [number, names] : wrappers)
    EXPECT_GE(count_of(sites, number), names.size()) << names[0];
  for (const RedirectSite& site : sites) {
    ASSERT_TRUE(wrappers.contains(site.number)) << site.number;
    const auto& names = wrappers.at(site.number);
    const bool lies_in_one = std::any_of(names.begin(), names.end(), [&](const char* name) {
      const auto [begin, bytes] = function_of_libc(name);
      const uint64_t at = text.address + site.offset_bytes;
      return begin <= at && at + site.window_bytes <= begin + bytes;
    });
    EXPECT_TRUE(lies_in_one) << names[0];
  }
}

TEST(SystemLinker, MapsAndUnmapsThroughSites) {
  const std::string path = task::read_elf("/proc/self/exe").interpreter;
  const auto sites = find_redirect_sites(text_of(path).bytes);
  EXPECT_GE(count_of(sites, kSysMmap), 1u);
  EXPECT_GE(count_of(sites, kSysMunmap), 1u);
  EXPECT_GE(count_of(sites, kSysMprotect), 1u);
  EXPECT_EQ(count_of(sites, kSysShmat), 0u);
  EXPECT_EQ(count_of(sites, kSysMremap), 0u);
}

TEST(SystemLinker, HasMostOfItsQuestionsToTheProcessorAnswered) {
  const Text text = text_of(task::read_elf("/proc/self/exe").interpreter);
  constexpr std::byte kCpuid[] = {std::byte{0x0f}, std::byte{0xa2}};
  size_t all = 0;
  for (auto at = text.bytes.begin();; ++at, ++all) {
    at = std::search(at, text.bytes.end(), std::begin(kCpuid), std::end(kCpuid));
    if (at == text.bytes.end()) break;
  }
  const auto sites = make_answer_sites(text.bytes, install_redirect_table());
  std::cout << sites.size() << " of " << all << " sites\n";
  EXPECT_GT(sites.size(), all / 2);
}

// Byte sequences that look like a site are all accepted, or named here. A libc that brings a new
// one shows up in this test instead of mapping silently outside of the partition.
TEST(SystemLibc, HasNoCandidateThatIsRefused) {
  for (const std::string& path : {libc_path(), task::read_elf("/proc/self/exe").interpreter}) {
    const Text text = text_of(path);
    std::set<size_t> sites;
    for (const RedirectSite& site : find_redirect_sites(text.bytes))
      sites.insert(site.offset_bytes);
    for (size_t at = 0; at + 7 <= text.bytes.size(); ++at) {
      uint32_t number;
      std::memcpy(&number, &text.bytes[at + 1], sizeof number);
      const bool load = text.bytes[at] == std::byte{0xb8} &&
                        std::find(std::begin(kRedirectable), std::end(kRedirectable), number) !=
                            std::end(kRedirectable);
      const bool enters =
          text.bytes[at + 5] == std::byte{0x0f} && text.bytes[at + 6] == std::byte{0x05};
      if (load && enters) {
        EXPECT_TRUE(sites.contains(at)) << path << " at " << text.address + at;
      }
    }
  }
}

}  // namespace
}  // namespace nagaya::arch
