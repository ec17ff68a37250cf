// SPDX-License-Identifier: BSD-3-Clause
// The memory that the loader lays into a partition, read back without running it.
#include "task/load/loader.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "arch/arch.h"
#include "task/clear_space.h"
#include "task/elf_file.h"
#include "task/error_code.h"

namespace nagaya::task {
namespace {

constexpr uint64_t kStackBytes = 8 << 20;

class LoaderTest : public testing::Test {
 protected:
  LoaderTest()
      : space_({.expected_tasks = 0, .capacity = 4, .heap_bytes = 64 << 20}),
        loader_(space_.header()),
        task_(space_.open_record(0)) {}
  ~LoaderTest() override {
    space_.mark_ended(task_, 0);
    space_.close_record(task_);
  }
  int load(const ProgramText& text, uint64_t stack_limit_bytes = kStackBytes) {
    return code_of([&] { loader_.load(task_, text, stack_limit_bytes, start_); });
  }
  // The words on the new stack: argc, argv..., 0, envp..., 0, auxv.
  const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(start_.stack_pointer); }
  std::vector<std::string> texts_from(const uint64_t*& at) const {
    std::vector<std::string> all;
    for (; *at != 0; ++at) all.emplace_back(reinterpret_cast<const char*>(*at));
    ++at;
    return all;
  }

  ClearSpace space_;
  Loader loader_;
  TaskRecord& task_;
  Start start_{};
};

uint64_t aux_value(const uint64_t* auxv, uint64_t type) {
  for (; auxv[0] != AT_NULL; auxv += 2)
    if (auxv[0] == type) return auxv[1];
  ADD_FAILURE() << "no entry of type " << type;
  return 0;
}

std::string self() {
  return std::filesystem::canonical("/proc/self/exe");
}

TEST_F(LoaderTest, WritesTheStackOfTheAbi) {
  ASSERT_EQ(load({self(), "me", {"one", ""}, {"A=1", "B=2"}}), 0);
  EXPECT_EQ(start_.stack_pointer % 16, 0u);
  const uint64_t* at = words();
  const uint64_t argc = *at++;
  const auto arguments = texts_from(at);
  EXPECT_EQ(argc, arguments.size());
  // Through the interpreter: ld.so [--argv0 NAME] PROGRAM arguments...
  const std::vector<std::string> tail(arguments.end() - 3, arguments.end());
  EXPECT_EQ(tail, (std::vector<std::string>{self(), "one", ""}));
  EXPECT_EQ(texts_from(at), (std::vector<std::string>{"A=1", "B=2"}));
  EXPECT_EQ(aux_value(at, kAuxvType), reinterpret_cast<uint64_t>(&task_));
  EXPECT_EQ(aux_value(at, AT_ENTRY), start_.entry);
  EXPECT_EQ(aux_value(at, AT_PAGESZ), kPageBytes);
  EXPECT_STREQ(reinterpret_cast<const char*>(aux_value(at, AT_EXECFN)), self().c_str());
  EXPECT_STREQ(task_.program, self().c_str());
}

// ld.so looks behind the end of some settings for another string: there must be a byte.
TEST_F(LoaderTest, EndsTheStringsByANullWordAsTheKernelDoes) {
  ASSERT_EQ(load({self(), self(), {}, {"LAST=1"}}), 0);
  const auto* const behind = task_.program + std::strlen(task_.program) + 1;
  uint64_t word;
  std::memcpy(&word, behind, sizeof word);
  EXPECT_EQ(word, 0u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(behind + sizeof word) % kPageBytes, 0u);
}

TEST_F(LoaderTest, PlacesEverythingInThePartition) {
  ASSERT_EQ(load({self(), self(), {}, {}}), 0);
  EXPECT_EQ(number_of(space_.header(), start_.entry), 0);
  EXPECT_EQ(number_of(space_.header(), start_.stack_pointer), 0);
}

TEST_F(LoaderTest, GivesEachTaskItsOwnRandomBytes) {
  ASSERT_EQ(load({self(), self(), {}, {}}), 0);
  const uint64_t* at = words() + 1;
  texts_from(at);
  texts_from(at);
  const std::string first(reinterpret_cast<const char*>(aux_value(at, AT_RANDOM)), 16);
  TaskRecord& other = space_.open_record(1);
  Start start{};
  loader_.load(other, {self(), self(), {}, {}}, kStackBytes, start);
  at = reinterpret_cast<const uint64_t*>(start.stack_pointer) + 1;
  texts_from(at);
  texts_from(at);
  EXPECT_NE(first, std::string(reinterpret_cast<const char*>(aux_value(at, AT_RANDOM)), 16));
  space_.mark_ended(other, 0);
  space_.close_record(other);
}

// The mappings around `address`: the protection of its own and of that above, the gap below.
struct Neighbours {
  std::string own, above, name;  // name: of its file
  uint64_t free_below_bytes;
};
Neighbours neighbours_of(uint64_t address) {
  std::ifstream maps("/proc/self/maps");
  Neighbours found;
  std::string line;
  uint64_t previous_end = 0, own_end = 0;
  while (std::getline(maps, line)) {
    std::istringstream fields(line);
    uint64_t begin, end;
    char dash;
    std::string protection, offset, device, inode, name;
    fields >> std::hex >> begin >> dash >> end >> protection >> offset >> device >> inode >> name;
    if (own_end != 0) {
      if (begin == own_end) found.above = protection;
      break;
    }
    if (begin <= address && address < end) {
      found.free_below_bytes = begin - previous_end;
      found.own = protection;
      found.name = name;
      own_end = end;
    }
    previous_end = end;
  }
  return found;
}

TEST_F(LoaderTest, LeavesAGapBelowAndAboveTheStack) {
  ASSERT_EQ(load({self(), self(), {}, {}}), 0);
  const Neighbours found = neighbours_of(start_.stack_pointer);
  EXPECT_EQ(found.own, "rw-p");
  EXPECT_GE(found.free_below_bytes, 1u << 20);
  EXPECT_NE(found.above, "rw-p") << "nothing writable begins where the stack ends";
}

TEST_F(LoaderTest, MapsWhatIsNotWrittenInOnePiece) {
  ASSERT_EQ(load({self(), self(), {}, {}}), 0);
  EXPECT_EQ(neighbours_of(start_.entry).own, "r-xp");
  EXPECT_EQ(neighbours_of(start_.entry).above, "rw-p");
}

// So no task copies a page of it to change its system calls.
TEST_F(LoaderTest, TakesTheLinkerFromOneChangedFile) {
  space_.header().redirect_table = arch::install_redirect_table();
  ASSERT_NE(space_.header().redirect_table, 0u);
  ASSERT_EQ(load({self(), self(), {}, {}}), 0);
  const Neighbours found = neighbours_of(start_.entry);
  EXPECT_EQ(found.own, "r-xp");
  EXPECT_EQ(found.name, "/memfd:nagaya-changed-text");
}

TEST_F(LoaderTest, TakesAnUnlimitedStack) {
  ASSERT_EQ(load({self(), self(), {}, {}}, RLIM_INFINITY), 0);
  EXPECT_EQ(number_of(space_.header(), start_.stack_pointer), 0);
}

TEST_F(LoaderTest, RefusesArgumentsBeyondAQuarterOfTheStack) {
  EXPECT_EQ(load({self(), self(), {std::string(3 << 20, 'x')}, {}}), -E2BIG);
}

TEST_F(LoaderTest, RefusesAProgramAtAFixedAddress) {
  const TemporaryFolder folder;
  ElfFile file;
  file.header.e_type = ET_EXEC;
  const std::string path = folder.write("fixed", file.bytes());
  EXPECT_EQ(load({path, path, {}, {}}), -ENOEXEC);
}

TEST_F(LoaderTest, SaysThatTheInterpreterIsMissing) {
  const TemporaryFolder folder;
  ElfFile file;
  file.interpreter = std::string("/no/such/interpreter.so.2__", 28);
  const std::string path = folder.write("prog", file.bytes());
  EXPECT_EQ(load({path, path, {}, {}}), -ENOENT);
}

TEST(ImageCache, ReadsAFileAgainWhenItHasChanged) {
  const TemporaryFolder folder;
  const std::string path = folder.write("prog", ElfFile().bytes());
  ImageCache cache;
  const auto first = cache.get(path);
  EXPECT_EQ(cache.get(path), first);
  std::filesystem::remove(path);
  ElfFile other;
  other.data.p_memsz = 90000;
  folder.write("prog", other.bytes());
  EXPECT_NE(cache.get(path)->load_bytes, first->load_bytes);
}

TEST_F(LoaderTest, KnowsTheSitesOfTheLibcBesideTheInterpreter) {
  space_.header().redirect_table = arch::install_redirect_table();
  ASSERT_EQ(load({self(), self(), {}, {}}), 0);
  ASSERT_EQ(space_.header().file_count, 1u);
  EXPECT_GE(space_.header().files[0].site_count, 4u);
  TaskRecord& other = space_.open_record(1);
  Start start{};
  loader_.load(other, {self(), self(), {}, {}}, kStackBytes, start);
  EXPECT_EQ(space_.header().file_count, 1u) << "nobody scans a file twice";
  space_.mark_ended(other, 0);
  space_.close_record(other);
}

}  // namespace
}  // namespace nagaya::task
