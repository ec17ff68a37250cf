// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace nagaya::llcl {
namespace {

using testing::HasSubstr;

Tuning parse(std::string_view text) {
  return Tuning::parse(text, "machine.tuning");
}

std::string complaint(std::string_view text) {
  try {
    parse(text);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), -EINVAL);
    return error.what();
  }
  return "";
}

TEST(Tuning, SaysWhatItsTableSaysAndDefaultsForTheRest) {
  const Tuning empty = parse("");
  const Tuning tuning = parse("# measured\n\n  tile_bytes\t16384  # of each\r\nposted_max_bytes 0");
  EXPECT_EQ(tuning[Tuned::kTileBytes], 16384u);
  EXPECT_EQ(tuning[Tuned::kPostedMaxBytes], 0u);
  EXPECT_EQ(tuning[Tuned::kCombinedMaxBytes], empty[Tuned::kCombinedMaxBytes]);
}

TEST(Tuning, OfEqualSizesHasTheSameDigestHoweverItIsWritten) {
  EXPECT_EQ(parse("").digest(), parse("# nothing\ntile_bytes 8192\n").digest());
  EXPECT_NE(parse("").digest(), parse("tile_bytes 8191\n").digest());
  EXPECT_NE(parse("posted_max_bytes 1\ncombined_max_bytes 2").digest(),
            parse("posted_max_bytes 2\ncombined_max_bytes 1").digest());
}

TEST(Tuning, RefusesATableWithOneLineThatNamesFileLineAndCause) {
  EXPECT_THAT(complaint("\ntile 1"),
              HasSubstr("machine.tuning: line 2: unknown name tile; known:"));
  for (const char* wrong : {"tile_bytes", "tile_bytes -1", "tile_bytes 1k", "tile_bytes 99999999"})
    EXPECT_THAT(complaint(wrong), HasSubstr("line 1: tile_bytes is 0 to 1048576")) << wrong;
  EXPECT_THAT(complaint("tile_bytes 1 2"), HasSubstr("one name and one number a line"));
}

// The table is read at the first call that does not throw: nothing is kept of these.
TEST(Tuning, RefusesWhatIsNoFileWithItsName) {
  for (const char* const name : {"/", "/no/such/table"}) {
    ::setenv("NAGAYA_TUNING", name, 1);
    try {
      Tuning::own();
      ADD_FAILURE() << name;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.code(), -EINVAL);
      EXPECT_EQ(error.what(), "NAGAYA_TUNING=" + std::string(name) + ": cannot be read");
    }
  }
  ::unsetenv("NAGAYA_TUNING");
}

TEST(Tuning, OfAnEmptyFileHasTheDefaults) {
  ::setenv("NAGAYA_TUNING", "/dev/null", 1);
  EXPECT_EQ(Tuning::own().digest(), parse("").digest());
  ::unsetenv("NAGAYA_TUNING");
}

}  // namespace
}  // namespace nagaya::llcl
