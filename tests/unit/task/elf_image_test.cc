// SPDX-License-Identifier: BSD-3-Clause
// Program files are not trusted: read_elf() answers or refuses, for any content.
#include "task/load/elf_image.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>
#include <random>

#include "task/elf_file.h"
#include "task/error_code.h"

namespace nagaya::task {
namespace {

class ElfImageTest : public testing::Test {
 protected:
  int code_for(const std::string& bytes) {
    const std::string path = folder_.write("program", bytes);
    return code_of([&] { read_elf(path); });
  }
  int code_with(const std::function<void(ElfFile&)>& damage) {
    ElfFile file;
    damage(file);
    return code_for(file.bytes());
  }

  TemporaryFolder folder_;
};

TEST_F(ElfImageTest, ReadsAWellFormedProgram) {
  const ElfImage image = read_elf(folder_.write("program", ElfFile().bytes()));
  EXPECT_EQ(image.interpreter, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_EQ(image.segments.size(), 3u);
  EXPECT_EQ(image.load_bytes, 4u * 4096);
  EXPECT_EQ(image.headers_address, ElfFile::kPhoff);
  EXPECT_TRUE(image.position_independent());
  EXPECT_FALSE(image.sanitized);
}

TEST_F(ElfImageTest, ReadsThisTestAndItsInterpreter) {
  const ElfImage image = read_elf("/proc/self/exe");
  EXPECT_FALSE(image.interpreter.empty());
  const ElfImage interpreter = read_elf(image.interpreter);
  EXPECT_TRUE(interpreter.position_independent());
  EXPECT_GT(interpreter.load_bytes, 4096u);
}

TEST_F(ElfImageTest, RecognisesAProgramBuiltWithASanitizer) {
#if defined(NAGAYA_SANITIZED)
  GTEST_SKIP() << "undefined alone is no sanitizer with a shadow; see the other builds";
#else
  EXPECT_FALSE(read_elf("/proc/self/exe").sanitized);
#endif
}

// A program whose string table has `name` and whose constants have `message`.
std::string with_texts(const std::string& name, const std::string& message) {
  ElfFile file;
  file.interp.p_type = PT_DYNAMIC;
  file.interp.p_filesz = 2 * sizeof(Elf64_Dyn);
  const Elf64_Dyn strings[2] = {{DT_STRTAB, {1000}}, {DT_STRSZ, {name.size()}}};
  std::string bytes = file.bytes();
  std::memcpy(&bytes[ElfFile::kInterpOffset], strings, sizeof strings);
  bytes.replace(1000, name.size(), name);
  return bytes.replace(2000, message.size(), message);
}

TEST_F(ElfImageTest, RecognisesTheSanitizersThatNeedAnAddressSpaceOfTheirOwn) {
  const struct {
    const char *name, *message;
    bool sanitized;
  } cases[] = {
      {"__asan_init", "", true},
      {"__tsan_init", "", true},
      {"__sanitizer_symbolize_code", "WARNING: AddressSanitizer failed", true},
      {"__sanitizer_symbolize_code", "WARNING: ThreadSanitizer: %s", true},
      {"__sanitizer_symbolize_code", "WARNING: MemorySanitizer: %s", true},
      {"__sanitizer_symbolize_code", "ERROR: LeakSanitizer: %s", true},
      {"__msan_init", "", true},
      {"__lsan_init", "", true},
      {"liblsan.so.0", "", true},
      {"__lsan_ignore_object", "LeakSanitizer", false},  // a hook that programs may call
      {"__sanitizer_symbolize_code", "UndefinedBehaviorSanitizer", false},
      {"main", "WARNING: AddressSanitizer failed", false},  // a tool that reads reports
      {"main", "", false},
  };
  for (const auto& one : cases)
    EXPECT_EQ(read_elf(folder_.write("program", with_texts(one.name, one.message))).sanitized,
              one.sanitized)
        << one.name << " " << one.message;
}

TEST_F(ElfImageTest, RefusesAFileThatEndsInItsHeaders) {
  const std::string whole = ElfFile().bytes();
  for (size_t bytes = 0; bytes < ElfFile::kInterpOffset + 28; ++bytes)
    EXPECT_EQ(code_for(whole.substr(0, bytes)), -ENOEXEC) << bytes;
}

TEST_F(ElfImageTest, RefusesAFileThatEndsInASegment) {
  const std::string whole = ElfFile().bytes();
  for (size_t bytes = 4090; bytes < whole.size(); ++bytes)
    EXPECT_EQ(code_for(whole.substr(0, bytes)), -ENOEXEC) << bytes;
}

TEST_F(ElfImageTest, RefusesAnotherClassCpuOrByteOrder) {
  EXPECT_EQ(code_with([](auto& f) { f.header.e_ident[EI_CLASS] = ELFCLASS32; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.header.e_ident[EI_DATA] = ELFDATA2MSB; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.header.e_machine = EM_AARCH64; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.header.e_type = ET_REL; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.header.e_type = ET_CORE; }), -ENOEXEC);
}

TEST_F(ElfImageTest, RefusesDamagedProgramHeaders) {
  EXPECT_EQ(code_with([](auto& f) { f.header.e_phentsize = 32; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.header.e_phnum = 0; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.header.e_phnum = 0xffff; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.header.e_phoff = 1 << 20; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.text.p_type = f.data.p_type = PT_NULL; }), -ENOEXEC);
}

// Offsets of 2^63 and more are negative for the kernel.
TEST_F(ElfImageTest, RefusesOffsetsBeyondEveryFile) {
  for (uint64_t offset : {~uint64_t{0}, uint64_t{1} << 63, (uint64_t{1} << 63) - 1}) {
    EXPECT_EQ(code_with([&](auto& f) { f.header.e_phoff = offset; }), -ENOEXEC) << offset;
    EXPECT_EQ(code_with([&](auto& f) { f.interp.p_offset = offset; }), -ENOEXEC) << offset;
    EXPECT_EQ(code_with([&](auto& f) { f.text.p_offset = offset; }), -ENOEXEC) << offset;
    EXPECT_EQ(code_with([&](auto& f) {
                f.interp.p_type = PT_DYNAMIC;
                f.interp.p_offset = offset;
              }),
              -ENOEXEC)
        << offset;
  }
}

TEST_F(ElfImageTest, RefusesSegmentsWhoseSizesOverflow) {
  const uint64_t huge = ~uint64_t{0}, page = 4096;
  EXPECT_EQ(code_with([&](auto& f) { f.data.p_filesz = huge; }), -ENOEXEC);
  EXPECT_EQ(code_with([&](auto& f) { f.data.p_memsz = huge; }), -ENOEXEC);
  EXPECT_EQ(code_with([&](auto& f) { f.data.p_memsz = 50; }), -ENOEXEC) << "less than filesz";
  EXPECT_EQ(code_with([&](auto& f) { f.data.p_vaddr = -page; }), -ENOEXEC);
  EXPECT_EQ(code_with([&](auto& f) { f.data.p_vaddr = f.data.p_memsz = huge & -page; }), -ENOEXEC);
  EXPECT_EQ(code_with([&](auto& f) { f.data.p_offset = -page; }), -ENOEXEC);
  EXPECT_EQ(code_with([&](auto& f) { f.interp.p_filesz = huge; }), -ENOEXEC);
  EXPECT_EQ(code_with([&](auto& f) { f.interp.p_filesz = 0; }), -ENOEXEC);
}

TEST_F(ElfImageTest, ReadsAProgramWithLargeStaticArrays) {
  EXPECT_EQ(code_with([](auto& f) { f.data.p_memsz = uint64_t{100} << 30; }), 0);
}

TEST_F(ElfImageTest, RefusesSegmentsThatOverlapOrLieAskew) {
  EXPECT_EQ(code_with([](auto& f) { f.text.p_memsz = 5000; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.data.p_vaddr = 0; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.data.p_vaddr += 8; }), -ENOEXEC);
}

TEST_F(ElfImageTest, RefusesAnEntryOutsideTheText) {
  const uint64_t page = 4096, largest = ~uint64_t{0};
  for (uint64_t entry : {page, page + 50, uint64_t{1} << 40, largest - 15, largest})
    EXPECT_EQ(code_with([&](auto& f) { f.header.e_entry = entry; }), -ENOEXEC) << entry;
  EXPECT_EQ(code_with([&](auto& f) { f.text.p_flags = PF_R; }), -ENOEXEC) << "no text";
  EXPECT_EQ(code_with([&](auto& f) { f.header.e_entry = page - 1; }), 0);
}

TEST_F(ElfImageTest, RefusesAnInterpreterNameThatIsEmptyOrDoesNotEnd) {
  EXPECT_EQ(code_with([](auto& f) { f.interpreter[0] = '\0'; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.interpreter.back() = 'x'; }), -ENOEXEC);
  EXPECT_EQ(code_with([](auto& f) { f.interp.p_filesz -= 1; }), -ENOEXEC);
}

TEST_F(ElfImageTest, TakesNoAlignmentThatIsNoPowerOfTwoOrTooLarge) {
  for (uint64_t alignment : {uint64_t{0}, uint64_t{3}, uint64_t{1} << 40, ~uint64_t{0}}) {
    ElfFile file;
    file.text.p_align = alignment;
    EXPECT_EQ(read_elf(folder_.write("program", file.bytes())).load_alignment, 4096u);
  }
  ElfFile file;
  file.text.p_align = 2 << 20;
  EXPECT_EQ(read_elf(folder_.write("program", file.bytes())).load_alignment, uint64_t{2} << 20);
}

TEST_F(ElfImageTest, ReportsWhatIsNoFileWithTheSystemsCode) {
  EXPECT_EQ(code_of([&] { read_elf(folder_ / "nothing"); }), -ENOENT);
  EXPECT_EQ(code_of([&] { read_elf(folder_.path()); }), -EISDIR);
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0777), 0);
  EXPECT_EQ(code_of([&] { read_elf(folder_ / "fifo"); }), -EACCES);  // and does not hang
  EXPECT_EQ(code_of([&] { read_elf("/dev/zero"); }), -EACCES);
}

TEST_F(ElfImageTest, NamesTheFileAndTheCause) {
  const std::string path = folder_.write("notes.txt", "hello, this is text");
  try {
    read_elf(path);
    FAIL() << "no exception";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.what(), path + ": not an ELF program, and no script that begins with #!");
  }
}

TEST_F(ElfImageTest, SurvivesNoiseInItsHeaders) {
  std::mt19937 random(20150901);
  const std::string whole = ElfFile().bytes();
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (uint32_t n = 0; n < 1 + random() % 6; ++n)
      damaged[16 + random() % (ElfFile::kInterpOffset - 16)] = static_cast<char>(random());
    const int code = code_for(damaged);
    EXPECT_TRUE(code == 0 || code == -ENOEXEC) << "round " << round << ": " << code;
  }
}

}  // namespace
}  // namespace nagaya::task
