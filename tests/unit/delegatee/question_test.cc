// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/question.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "delegatee/contact.h"

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
  EXPECT_EQ(decode_question(encode(Question{})).kind, Question::Kind::kContact);
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

TEST(Contacts, AreReadAsTheyWereWrittenOrRefused) {
  const std::vector<Contact> two{{new_secret(), "an address"},
                                 {new_secret(), std::string(256, 'x')}};
  const std::string whole = encode(two), first = encode({two[0]});
  const std::vector<Contact> read = decode_contacts(whole);
  ASSERT_EQ(read.size(), 2u);
  for (size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(read[n].secret, two[n].secret);
    EXPECT_EQ(read[n].address, two[n].address);
  }
  EXPECT_EQ(decode_contacts(whole.substr(0, first.size())).size(), 1u);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    if (bytes == first.size()) continue;
    EXPECT_THROW(decode_contacts(whole.substr(0, bytes)), base::Error) << bytes;
  }
}

}  // namespace
}  // namespace nagaya::delegatee
