// SPDX-License-Identifier: BSD-3-Clause
// elf_file.h - ELF files made by hand, right and wrong.
#pragma once

#include <elf.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace nagaya::task {

// A folder that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "nagaya-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ / name; }
  std::string path() const { return path_; }

  std::string write(const std::string& name, const std::string& bytes, int mode = 0755) const {
    const std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << bytes;
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode));
    return path;
  }

 private:
  std::filesystem::path path_;
};

// A small well-formed program: header, three program headers, an interpreter, one page.
struct ElfFile {
  static constexpr uint64_t kPhoff = sizeof(Elf64_Ehdr);
  static constexpr uint64_t kInterpOffset = kPhoff + 3 * sizeof(Elf64_Phdr);

  Elf64_Ehdr header{};
  Elf64_Phdr interp{}, text{}, data{};
  std::string interpreter{"/lib64/ld-linux-x86-64.so.2", 28};  // with its NUL

  ElfFile() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_phoff = kPhoff;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 3;
    interp = {PT_INTERP,          PF_R, kInterpOffset, kInterpOffset, 0, interpreter.size(),
              interpreter.size(), 1};
    text = {PT_LOAD, PF_R | PF_X, 0, 0, 0, 4096, 4096, 4096};
    data = {PT_LOAD, PF_R | PF_W, 4096, 4096, 0, 100, 9000, 4096};
  }

  std::string bytes() const {
    std::string all;
    const auto append = [&](const auto& part) {
      all.append(reinterpret_cast<const char*>(&part), sizeof part);
    };
    append(header);
    append(interp);
    append(text);
    append(data);
    all += interpreter;
    all.resize(4096 + 100);
    return all;
  }
};

}  // namespace nagaya::task
