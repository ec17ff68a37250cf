// SPDX-License-Identifier: BSD-3-Clause
// Writes the seeds of the corpus: make_corpus FOLDER (tests/fuzz/corpus). Run it again when the
// layout of a message has changed.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "../unit/delegatee/raw_batch.h"
#include "../unit/task/elf_file.h"
#include "task/wire.h"

namespace {

using namespace nagaya::task;

std::string folder;

void write(const std::string& name, const std::string& bytes) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void write_programs() {
  ElfFile good;
  write("elf/program", good.bytes());
  write("elf/cut", good.bytes().substr(0, 100));
  ElfFile fixed;
  fixed.header.e_type = ET_EXEC;
  write("elf/fixed", fixed.bytes());
  ElfFile far;
  far.header.e_phoff = ~0ull;
  write("elf/headers-at-minus-one", far.bytes());
  ElfFile no_interpreter;
  no_interpreter.interp.p_type = PT_NULL;
  write("elf/static", no_interpreter.bytes());
  ElfFile dynamic;
  dynamic.interp.p_type = PT_DYNAMIC;
  dynamic.interp.p_filesz = 64;
  write("elf/dynamic", dynamic.bytes());
  ElfFile far_dynamic = dynamic;
  far_dynamic.interp.p_offset = 1ull << 63;
  write("elf/dynamic-at-minus", far_dynamic.bytes());
  write("elf/text", "#!/bin/sh\n");
}

void write_launches() {
  Launch launch{};
  write("launch/empty", encode(launch));
  launch.text = {"/bin/a", "a", {"1", ""}, {"X=y"}};
  launch.descriptor_numbers = {0, 1, 2};
  const std::string whole = encode(launch);
  write("launch/usual", whole);
  write("launch/cut", whole.substr(0, whole.size() / 2));
  write("launch/longer", whole + "x");
  std::string damaged = whole;
  damaged.replace(0, 8, 8, '\xff');
  write("launch/huge-length", damaged);
  launch.descriptor_numbers = {2, 1};
  write("launch/descending", encode(launch));
}

void write_connections() {
  const auto frame = [](uint32_t magic, uint32_t type, uint32_t bytes, uint32_t descriptors) {
    struct {
      uint32_t words[4];
    } const words{{magic, type, bytes, descriptors}};
    return encode_plain(words);
  };
  constexpr uint32_t kMagic = 0x4e414746;
  write("channel/empty", "");
  write("channel/signal", frame(kMagic, 5, 8, 0) + "12345678");
  write("channel/two", frame(kMagic, 0, 1, 0) + "a" + frame(kMagic, 1, 0, 0));
  write("channel/cut", frame(kMagic, 3, 100, 0) + "abc");
  write("channel/foreign", "GET / HTTP/1.1\r\n\r\n");
  write("channel/huge", frame(kMagic, 3, 0xffffffff, 0));
  write("channel/no-descriptors", frame(kMagic, 3, 0, 3));
}

void write_batches() {
  for (const auto& batches :
       {nagaya::delegatee::malformed_batches(), nagaya::delegatee::sound_batches()})
    for (const auto& [name, bytes] : batches) write(std::string("batch/") + name, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: make_corpus FOLDER\n"), 2;
  folder = argv[1];
  write_programs();
  write_launches();
  write_connections();
  write_batches();
}
