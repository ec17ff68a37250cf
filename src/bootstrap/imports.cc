// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/imports.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <span>

namespace nagaya::bootstrap {
namespace {

struct Binding {
  const char* name;
  void* function;
};

// A library's dynamic section.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> calls, data;
};

Dynamic read(const ElfW(Dyn) * entry, ElfW(Addr) base) {
  // The dynamic linker has made these addresses absolute, except those of the kernel's own library.
  const auto at = [&](ElfW(Addr) address) { return address < base ? base + address : address; };
  const auto relocations = [&](ElfW(Addr) address) {
    return reinterpret_cast<const ElfW(Rela)*>(at(address));
  };
  Dynamic found;
  const ElfW(Rela)* calls = nullptr, *data = nullptr;
  size_t calls_bytes = 0, data_bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB) found.symbols = reinterpret_cast<const ElfW(Sym)*>(at(value));
    if (entry->d_tag == DT_STRTAB) found.names = reinterpret_cast<const char*>(at(value));
    if (entry->d_tag == DT_JMPREL) calls = relocations(value);
    if (entry->d_tag == DT_PLTRELSZ) calls_bytes = value;
    if (entry->d_tag == DT_RELA) data = relocations(value);
    if (entry->d_tag == DT_RELASZ) data_bytes = value;
  }
  if (calls != nullptr) found.calls = {calls, calls_bytes / sizeof *calls};
  if (data != nullptr) found.data = {data, data_bytes / sizeof *data};
  return found;
}

// Whether the dynamic linker has made that page read-only after it had bound all imports. It
// protects whole pages from the one in which the segment begins, but not the one in which it ends:
// variables may lie there (glibc's _dl_protect_relro, musl's reloc_all).
bool is_made_read_only(ElfW(Addr) page, ElfW(Addr) page_bytes, const dl_phdr_info& library) {
  for (const auto& part : std::span(library.dlpi_phdr, library.dlpi_phnum)) {
    if (part.p_type != PT_GNU_RELRO) continue;
    const ElfW(Addr) begin = library.dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
    if (page >= begin / page_bytes * page_bytes && page < end / page_bytes * page_bytes)
      return true;
  }
  return false;
}

// Stores `function` in the slot. A read-only page is writable for that time only; all others stay
// as they are.
void store(ElfW(Addr) slot, void* function, const dl_phdr_info& library) {
  const auto page_bytes = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
  const ElfW(Addr) page_begin = slot / page_bytes * page_bytes;
  void* const page = reinterpret_cast<void*>(page_begin);
  const bool is_protected = is_made_read_only(page_begin, page_bytes, library);
  if (is_protected && ::mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  std::atomic_ref(*reinterpret_cast<void**>(slot)).store(function, std::memory_order_release);
  if (is_protected) ::mprotect(page, page_bytes, PROT_READ);
}

int bind_of(dl_phdr_info* library, size_t, void* wanted) {
  const auto& binding = *static_cast<const Binding*>(wanted);
  for (const auto& part : std::span(library->dlpi_phdr, library->dlpi_phnum)) {
    if (part.p_type != PT_DYNAMIC) continue;
    const ElfW(Addr) base = library->dlpi_addr;
    const Dynamic dynamic = read(reinterpret_cast<const ElfW(Dyn)*>(base + part.p_vaddr), base);
    if (dynamic.symbols == nullptr || dynamic.names == nullptr) continue;
    for (const auto relocations : {dynamic.calls, dynamic.data})
      for (const ElfW(Rela) & relocation : relocations) {
        const ElfW(Sym)& symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
        if (ELF64_R_SYM(relocation.r_info) != 0 && symbol.st_shndx == SHN_UNDEF &&
            std::strcmp(dynamic.names + symbol.st_name, binding.name) == 0)
          store(base + relocation.r_offset, binding.function, *library);
      }
  }
  return 0;
}

}  // namespace

void bind_import(const char* name, void* function) {
  Binding binding{name, function};
  ::dl_iterate_phdr(bind_of, &binding);
}

}  // namespace nagaya::bootstrap
