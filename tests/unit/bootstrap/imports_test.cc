// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/imports.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>

namespace nagaya::bootstrap {
namespace {

constexpr pid_t kNobody = -7;

pid_t nobody() {
  return kNobody;
}

// getppid: this program imports it, and no compiler knows its result.
TEST(BindImport, BindsTheImportOfAProgramAndBack) {
  void* const real = ::dlsym(RTLD_DEFAULT, "getppid");
  const pid_t parent = ::getppid();
  bind_import("getppid", reinterpret_cast<void*>(nobody));
  EXPECT_EQ(::getppid(), kNobody);
  bind_import("getppid", real);
  EXPECT_EQ(::getppid(), parent);
}

TEST(BindImport, LeavesOtherImportsAlone) {
  const pid_t own = ::getpid(), parent = ::getppid();
  bind_import("getppi", reinterpret_cast<void*>(nobody));
  bind_import("getppid_", reinterpret_cast<void*>(nobody));
  EXPECT_EQ(::getpid(), own);
  EXPECT_EQ(::getppid(), parent);
}

// A copy of the library whose program headers say that its imports and variables become read-only
// once they are bound: that part ends in the middle of a page, as it may where pages are smaller.
// The dynamic linker leaves that page writable.
std::string with_read_only_half_page() {
  std::ifstream file(NAGAYA_HALF_PAGE_IMPORTS, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  auto* const header = reinterpret_cast<ElfW(Ehdr)*>(bytes.data());
  const std::span parts(reinterpret_cast<ElfW(Phdr)*>(bytes.data() + header->e_phoff),
                        header->e_phnum);
  const auto is = [](uint32_t type) {
    return [type](const ElfW(Phdr) & part) { return part.p_type == type; };
  };
  const auto writable = std::ranges::find_if(parts, [](const ElfW(Phdr) & part) {
    return part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0;
  });
  const auto note = std::ranges::find_if(parts, is(PT_NOTE));
  if (writable == parts.end() || note == parts.end()) return {};
  note->p_type = PT_GNU_RELRO;
  note->p_vaddr = writable->p_vaddr;
  note->p_memsz = writable->p_filesz;
  const std::string path = testing::TempDir() + "half-page-" + std::to_string(::getpid()) + ".so";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// In a child, which may die.
TEST(BindImportDeath, LeavesVariablesBesideAReadOnlyPartWritable) {
  const std::string path = with_read_only_half_page();
  void* const library = ::dlopen(path.c_str(), RTLD_NOW);
  ::unlink(path.c_str());
  ASSERT_NE(library, nullptr) << ::dlerror();
  auto* const variable = static_cast<volatile int*>(::dlsym(library, "half_page_variable"));
  auto* const import = reinterpret_cast<int (*)()>(::dlsym(library, "half_page_import"));
  EXPECT_EXIT(
      {
        bind_import("getppid", reinterpret_cast<void*>(nobody));
        *variable = 2;
        ::_exit(import() == kNobody ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace nagaya::bootstrap
