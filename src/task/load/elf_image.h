// SPDX-License-Identifier: BSD-3-Clause
// elf_image.h - reads and checks the headers of a program file, without trusting it.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace nagaya::task {

// The headers of an ELF file of this machine, checked: every segment lies inside the file, sizes
// and addresses do not overflow, the entry lies in its text.
struct ElfImage {
  std::string path;
  base::Fd file;
  uint64_t device, inode, mtime_ns;
  Elf64_Ehdr header;
  std::vector<Elf64_Phdr> segments;  // all program headers
  std::string interpreter;           // PT_INTERP, "" when there is none
  uint64_t load_bytes;               // address space of all PT_LOADs, in whole pages
  uint64_t load_alignment;           // of its load address
  uint64_t headers_address;          // of the program headers, relative to the load address
  bool knows_argv0;  // it is an interpreter with --argv0 (glibc 2.33 and newer, musl)
  bool sanitized;    // built with the address, thread, memory or leak sanitizer

  bool position_independent() const { return header.e_type == ET_DYN; }
};

// Throws Error: -ENOENT, -EACCES, -EISDIR as the system says; -ENOEXEC when the file is not a
// well-formed ELF program of this CPU. The message names the file, the cause and the cure.
ElfImage read_elf(const std::string& path);

}  // namespace nagaya::task
