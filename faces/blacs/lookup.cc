// SPDX-License-Identifier: BSD-3-Clause
// lookup.cc - dlsym() for the program: a BLACS function that is looked up by a library's handle is
// found in this library, too, as it is by every library that was linked with it.
//
//   ScaLAPACK --- symbol of the process's scope ----------> this library (LD_PRELOAD comes first)
//   program  ---- dlsym(handle of ScaLAPACK, "Cblacs_*") --> libc: the BLACS inside of ScaLAPACK
//
// Without this the program would make its grids in one BLACS, and ScaLAPACK would use them in the
// other.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "faces/blacs/loaded.h"
#include "faces/blacs/system.h"

namespace nagaya::blacs {
namespace {

using Dlsym = void*(void* handle, const char* name) noexcept;

// dlvsym() needs a version: tries the newest one, then the first one of each kind of processor.
Dlsym* find_libc_dlsym() {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27"})
    if (void* const found = dlvsym(RTLD_NEXT, "dlsym", version))
      return reinterpret_cast<Dlsym*>(found);
  return nullptr;
}

// Each thread looks libc's function up until one has stored it. There is no lock: it would be held
// while libc takes its own, which a constructor that calls dlsym() holds already.
[[gnu::noinline]] Dlsym& libc_dlsym() {
  static std::atomic<Dlsym*> known = nullptr;
  Dlsym* lookup = known.load(std::memory_order_relaxed);
  if (lookup == nullptr) known.store(lookup = find_libc_dlsym(), std::memory_order_relaxed);
  return *lookup;
}

// Returns the start of the library that contains the address; nullptr if none does.
const void* library_of(const void* address, std::string* file = nullptr) {
  Dl_info info;
  if (dladdr(address, &info) == 0) return nullptr;
  if (file != nullptr) *file = info.dli_fname;
  return info.dli_fbase;
}

const void* own_library(std::string* file = nullptr) {
  return library_of(reinterpret_cast<const void*>(&find_libc_dlsym), file);
}

// Handle of this library. Two threads may look it up at once: there is no lock, as libc may hold
// its own.
void* own_handle() {
  static std::atomic<void*> known = nullptr;
  void* handle = known.load(std::memory_order_relaxed);
  if (handle != nullptr) return handle;
  std::string file;
  own_library(&file);
  handle = dlopen(file.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  known.store(handle, std::memory_order_relaxed);
  return handle;
}

// A BLACS function of this library; nullptr: there is none of that name.
void* own_function(const char* name) {
  if (own_handle() == nullptr || std::strcmp(name, "dlsym") == 0) return nullptr;
  void* const found = libc_dlsym()(own_handle(), name);  // its libraries are searched, too
  return found != nullptr && library_of(found) == own_library() ? found : nullptr;
}

std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  const auto add = [](dl_phdr_info* info, size_t, void* all) {
    if (info->dlpi_name != nullptr && *info->dlpi_name != 0)
      static_cast<std::vector<std::string>*>(all)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &files);
  return files;
}

bool is_gridinfo_name(const char* name) {
  return std::strcmp(name, "Cblacs_gridinfo") == 0 || std::strcmp(name, "blacs_gridinfo_") == 0;
}

// Whether one of the relocations is of a function of the BLACS that all of ScaLAPACK calls.
bool has_gridinfo_relocation(const ElfW(Rela) * relocation, size_t bytes, const ElfW(Sym) * symbols,
                             const char* names) {
  for (size_t n = 0; n < bytes / sizeof *relocation; ++n)
    if (is_gridinfo_name(names + symbols[ELF64_R_SYM(relocation[n].r_info)].st_name)) return true;
  return false;
}

// Whether the function's library has ScaLAPACK and its BLACS, and was linked so that the one calls
// the other at fixed addresses (-Bsymbolic): then this library cannot come between them.
bool is_bound_to_own_blacs(void* function) {
  Dl_info info;
  link_map* library = nullptr;
  if (dladdr1(function, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0)
    return false;
  const void* const descinit = libc_dlsym()(library, "descinit_");
  if (descinit == nullptr || library_of(descinit) != info.dli_fbase) return false;
  ElfW(Addr) address_of_tag[DT_JMPREL + 1] = {};
  for (const ElfW(Dyn)* entry = library->l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag > 0 && entry->d_tag <= DT_JMPREL)
      address_of_tag[entry->d_tag] = entry->d_un.d_ptr;
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(address_of_tag[DT_SYMTAB]);
  const auto* const names = reinterpret_cast<const char*>(address_of_tag[DT_STRTAB]);
  const auto has = [&](int table, int bytes) {
    return has_gridinfo_relocation(reinterpret_cast<const ElfW(Rela)*>(address_of_tag[table]),
                                   address_of_tag[bytes], symbols, names);
  };
  return !has(DT_JMPREL, DT_PLTRELSZ) && !has(DT_RELA, DT_RELASZ);
}

// Returns this library's function if the handle leads to another BLACS; nullptr: libc's answer is
// right.
[[gnu::noinline]] void* find_by_handle(void* handle, const char* name) {
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || name == nullptr) return nullptr;
  void* const ours = own_function(name);
  if (ours == nullptr || !System::is_served_here()) return nullptr;
  void* const found = libc_dlsym()(handle, name);
  if (found == nullptr || found == ours || is_bound_to_own_blacs(found)) return nullptr;
  dlerror();  // clears an error of the look-ups above
  return ours;
}

}  // namespace

LoadedSymbol find_loaded_symbol(const char* name) {
  for (const std::string& file : loaded_files()) {
    void* const handle = dlopen(file.c_str(), RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) continue;
    LoadedSymbol found;
    found.symbol = libc_dlsym()(handle, name);
    dlclose(handle);  // it was loaded before
    if (found.symbol != nullptr && library_of(found.symbol, &found.file) != own_library())
      return found;
  }
  return {};
}

}  // namespace nagaya::blacs

// libc finds its caller by the return address (RTLD_NEXT, RTLD_DEFAULT): a jump keeps the
// program's. The compiler jumps where nothing of this function is left on the stack: the functions
// that it calls are not inlined, and libc's throws nothing.
#if defined(__clang__)
#define NAGAYA_JUMP_TO [[clang::musttail]] return
#define NAGAYA_JUMPS __attribute__((no_sanitize("address", "thread", "undefined")))
#else
#define NAGAYA_JUMP_TO return
#define NAGAYA_JUMPS \
  __attribute__((optimize("O2"), no_sanitize("address", "thread", "undefined"), noipa))
#endif

extern "C" __attribute__((visibility("default"))) NAGAYA_JUMPS void* dlsym(
    void* handle, const char* name) noexcept {
  using namespace nagaya::blacs;
  if (void* const ours = find_by_handle(handle, name)) return ours;
  NAGAYA_JUMP_TO libc_dlsym()(handle, name);
}
