// SPDX-License-Identifier: BSD-3-Clause
#include "array/block_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "smaps.h"

namespace nagaya::array {
namespace {

constexpr size_t kMebi = 1 << 20;
constexpr uint64_t kName = 17;

std::string modes_of_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  std::getline(file, modes);
  return modes;
}

TEST(BlockMemory, OfManyMebibytesLiesInHugePages) {
  const std::string modes = modes_of_huge_pages();
  if (modes.empty() || modes.find("[never]") != std::string::npos)
    GTEST_SKIP() << "this machine gives no transparent huge pages: " << modes;
  const BlockMemory memory(16 * kMebi, kName);
  std::memset(memory.begin(), 1, 16 * kMebi);
  EXPECT_GE(in_huge_pages(memory.begin() + 2 * kMebi), 2 * 1024);
}

TEST(BlockMemory, OfManyMebibytesIsBackedWhereItIsTouched) {
  const BlockMemory memory(64 * kMebi, kName);
  memory.begin()[32 * kMebi] = std::byte{1};
  EXPECT_LE(std::stol(smaps_field(memory.begin() + 32 * kMebi, "Rss:")), 2 * 1024);
}

TEST(BlockMemory, OfOneMebibyteAsksForNoHugePages) {
  const BlockMemory memory(kMebi, kName);
  EXPECT_EQ(smaps_field(memory.begin(), "VmFlags:").find(" hg "), std::string::npos);
}

TEST(BlockMemory, BeginsAtALineAndIsZero) {
  for (const size_t bytes : {size_t{1}, kMebi, 4 * kMebi, 4 * kMebi + 1}) {
    const BlockMemory memory(bytes, kName);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.begin()) % 64, 0u);
    EXPECT_EQ(std::count(memory.begin(), memory.begin() + bytes, std::byte{0}),
              static_cast<ptrdiff_t>(bytes));
  }
}

}  // namespace
}  // namespace nagaya::array
