// SPDX-License-Identifier: BSD-3-Clause
#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "smaps.h"

namespace nagaya::base {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

int open_something() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(Fd, ClosesItsDescriptorAtTheEndOfItsScope) {
  int raw;
  {
    const Fd fd(open_something());
    raw = fd.get();
    ASSERT_TRUE(is_open(raw));
  }
  EXPECT_FALSE(is_open(raw));
}

TEST(Fd, GivesUpWhatIsReleased) {
  const int raw = Fd(open_something()).release();
  EXPECT_TRUE(is_open(raw));
  ::close(raw);
}

TEST(Fd, LeavesNothingBehindWhenMovedFrom) {
  Fd first(open_something());
  const int raw = first.get();
  const Fd second(std::move(first));
  EXPECT_EQ(second.get(), raw);
  EXPECT_FALSE(first);  // NOLINT: the state after a move is part of the contract
}

TEST(Fd, ReportsWhatFailedAndWhy) {
  errno = ENOENT;
  try {
    checked_fd(-1, "cannot open x");
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), -ENOENT);
    EXPECT_STREQ(error.what(), "cannot open x: No such file or directory");
  }
}

TEST(Mapping, IsZeroAndEndsWithItsOwner) {
  std::byte* data;
  {
    const Mapping memory = reserve_memory(8192, "cannot reserve");
    data = memory.data();
    ASSERT_EQ(memory.bytes(), 8192u);
    EXPECT_EQ(data[8191], std::byte{0});
  }
  unsigned char resident;
  EXPECT_EQ(::mincore(data, 4096, &resident), -1);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(Mapping, IsPartOfCoreFilesUnlessReservedOtherwise) {
  const Mapping dumped = reserve_memory(8192, "cannot reserve");
  const Mapping undumped = reserve_undumped_memory(8192, "cannot reserve");
  EXPECT_FALSE(is_left_out_of_core_files(dumped.data()));
  EXPECT_TRUE(is_left_out_of_core_files(undumped.data()));
  EXPECT_TRUE(is_left_out_of_core_files(undumped.data() + 8191));
}

TEST(Mapping, SaysThatMemoryIsExhausted) {
  EXPECT_THROW(reserve_memory(uint64_t{1} << 60, "cannot reserve"), Error);
}

}  // namespace
}  // namespace nagaya::base
