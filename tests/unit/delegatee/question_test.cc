// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/question.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace nagaya::delegatee {
namespace {

TEST(Question, IsReadAsItWasWritten) {
  const Question connect{
      Question::Kind::kConnect, {"FI_A=1", "FI_B="}, 1, {"one", std::string("\0two", 4), ""}};
  const Question read = decode_question(encode(connect));
  EXPECT_EQ(read.kind, connect.kind);
  EXPECT_EQ(read.variables, connect.variables);
  EXPECT_EQ(read.self, 1u);
  EXPECT_EQ(read.contacts, connect.contacts);
  EXPECT_EQ(decode_question(encode({})).kind, Question::Kind::kContact);
}

TEST(Question, IsRefusedWhenItIsCutOrGrown) {
  const std::string whole =
      encode({Question::Kind::kConnect, {"FI_A=1"}, 0, {"address", "another"}});
  for (size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_THROW(decode_question(whole.substr(0, bytes)), base::Error) << bytes;
  EXPECT_THROW(decode_question(whole + "x"), base::Error);
}

TEST(Question, IsRefusedWhenItMakesNoSense) {
  EXPECT_THROW(decode_question(encode({Question::Kind::kConnect, {}, 2, {"a", "b"}})), base::Error);
  EXPECT_THROW(decode_question(encode({static_cast<Question::Kind>(7), {}, 0, {}})), base::Error);
  EXPECT_THROW(decode_question(std::string(12, '\xff')), base::Error);
}

}  // namespace
}  // namespace nagaya::delegatee
