// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_names.h"

#include <gtest/gtest.h>

#include <memory>

namespace nagaya::tools {
namespace {

using Clock = PublishedNames::Clock;

const PmixProcess kServer{"job.0", 0};
const PmixProcess kClient{"job.1", 0};

PublishedName published(const std::string& name, const PmixProcess& publisher = kServer) {
  return {name, {PMIX_STRING, "value of " + name}, publisher, PMIX_PERSIST_SESSION, false};
}

class PublishedNamesTest : public testing::Test {
 protected:
  // The answer that a process got; no status: none yet.
  struct Answer {
    std::optional<pmix_status_t> status;
    std::vector<std::string> values;
  };

  std::shared_ptr<Answer> look_up(NameQuery query, bool waits = false,
                                  std::optional<Clock::time_point> deadline = std::nullopt) {
    auto answer = std::make_shared<Answer>();
    names.look_up(std::move(query), waits, deadline,
                  [answer](pmix_status_t status, const std::vector<PublishedName>& found) {
                    EXPECT_FALSE(answer->status) << "answered twice";
                    answer->status = status;
                    for (const PublishedName& name : found)
                      answer->values.push_back(name.value.bytes);
                  });
    return answer;
  }
  std::shared_ptr<Answer> look_up(const std::string& name) { return look_up({kClient, {name}}); }

  EventLoop loop;
  PublishedNames names{loop};
};

using Strings = std::vector<std::string>;

TEST_F(PublishedNamesTest, FindsWhatAnotherJobHasPublished) {
  EXPECT_EQ(names.publish({published("a")}), PMIX_SUCCESS);
  const auto answer = look_up("a");
  EXPECT_EQ(answer->status, PMIX_SUCCESS);
  EXPECT_EQ(answer->values, Strings{"value of a"});
  EXPECT_EQ(look_up("b")->status, PMIX_ERR_NOT_FOUND);
}

TEST_F(PublishedNamesTest, ReturnsThoseOfSeveralNamesThatThereAre) {
  names.publish({published("a")});
  const auto answer = look_up({kClient, {"b", "a"}});
  EXPECT_EQ(answer->status, PMIX_ERR_PARTIAL_SUCCESS);
  EXPECT_EQ(answer->values, Strings{"value of a"});
}

TEST_F(PublishedNamesTest, RefusesANameThatIsTakenAndPublishesNoneBesideIt) {
  names.publish({published("a")});
  EXPECT_EQ(names.publish({published("b"), published("a", kClient)}), PMIX_ERR_DUPLICATE_KEY);
  EXPECT_EQ(look_up("b")->status, PMIX_ERR_NOT_FOUND);
}

TEST_F(PublishedNamesTest, ShowsANameForTheOwnJobToThatJobAlone) {
  PublishedName name = published("a");
  name.is_for_own_job = true;
  names.publish({name});
  EXPECT_EQ(look_up("a")->status, PMIX_ERR_NOT_FOUND);
  EXPECT_EQ(look_up({kServer, {"a"}})->status, PMIX_SUCCESS);
  EXPECT_EQ(names.publish({published("a", kClient)}), PMIX_SUCCESS);
  EXPECT_EQ(look_up({kServer, {"a"}, true})->values, Strings{"value of a"});
}

TEST_F(PublishedNamesTest, WaitsUntilAllNamesArePublished) {
  const auto answer = look_up({kClient, {"a", "b"}}, true);
  names.publish({published("a")});
  EXPECT_FALSE(answer->status);
  names.publish({published("b")});
  EXPECT_EQ(answer->status, PMIX_SUCCESS);
  EXPECT_EQ(answer->values, (Strings{"value of a", "value of b"}));
}

TEST_F(PublishedNamesTest, GivesANameThatIsForOneReaderToTheOneThatHasWaitedLongest) {
  const auto first = look_up({kClient, {"a"}}, true);
  const auto second = look_up({kClient, {"a"}}, true);
  PublishedName name = published("a");
  name.persistence = PMIX_PERSIST_FIRST_READ;
  names.publish({name});
  EXPECT_EQ(first->status, PMIX_SUCCESS);
  EXPECT_FALSE(second->status);
  EXPECT_EQ(names.publish({name}), PMIX_SUCCESS);
  EXPECT_EQ(second->status, PMIX_SUCCESS);
}

TEST_F(PublishedNamesTest, EndsAWaitAtItsDeadlineAndNoOtherOne) {
  const auto now = Clock::now();
  const auto soon = look_up({kClient, {"a"}}, true, now + std::chrono::milliseconds(20));
  const auto later = look_up({kClient, {"a"}}, true, now + std::chrono::hours(1));
  const auto never = look_up({kClient, {"a"}}, true);
  while (!soon->status) loop.serve_once(1000);
  EXPECT_GE(Clock::now(), now + std::chrono::milliseconds(20));
  EXPECT_EQ(soon->status, PMIX_ERR_TIMEOUT);
  EXPECT_FALSE(later->status);
  EXPECT_FALSE(never->status);
}

TEST_F(PublishedNamesTest, TakesBackOnlyWhatTheProcessItselfHasPublished) {
  names.publish({published("a"), published("b", kClient)});
  names.unpublish({kClient, {"a", "b"}});
  EXPECT_EQ(look_up("a")->status, PMIX_SUCCESS);
  EXPECT_EQ(look_up("b")->status, PMIX_ERR_NOT_FOUND);
}

TEST_F(PublishedNamesTest, ForgetsWhatWasPublishedForALifetime) {
  PublishedName for_process = published("process");
  for_process.persistence = PMIX_PERSIST_PROC;
  PublishedName for_job = published("job");
  for_job.persistence = PMIX_PERSIST_APP;
  names.publish({for_process, for_job, published("session")});
  names.process_has_ended(kServer);
  EXPECT_EQ(look_up("process")->status, PMIX_ERR_NOT_FOUND);
  EXPECT_EQ(look_up("job")->status, PMIX_SUCCESS);
  names.job_has_ended(kServer.job);
  EXPECT_EQ(look_up("job")->status, PMIX_ERR_NOT_FOUND);
  EXPECT_EQ(look_up("session")->status, PMIX_SUCCESS);
}

TEST_F(PublishedNamesTest, AnswersRanksThatWaitWhenTheirJobHasEnded) {
  const auto answer = look_up({kClient, {"a"}}, true);
  names.job_has_ended(kClient.job);
  EXPECT_EQ(answer->status, PMIX_ERR_NOT_FOUND);
}

TEST_F(PublishedNamesTest, TakesALimitedNumberOfBytesAndMoreAfterSomeWereTakenBack) {
  PublishedName large = published("a");
  large.value.bytes.resize(9 << 20);
  EXPECT_EQ(names.publish({large}), PMIX_SUCCESS);
  large.name = "b";
  EXPECT_EQ(names.publish({large}), PMIX_ERR_OUT_OF_RESOURCE);
  names.unpublish({kServer, {"a"}});
  EXPECT_EQ(names.publish({large}), PMIX_SUCCESS);
}

}  // namespace
}  // namespace nagaya::tools
