// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmi1.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace nagaya::bootstrap {
namespace {

// Answers as a launcher does: a line for a line, until the client hangs up.
class Launcher {
 public:
  // `answer`: to a question without its end of line; nothing: hangs up instead.
  using Answer = std::function<std::string(const std::string&)>;

  explicit Launcher(Answer answer) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    client_ = base::Fd(ends[0]);
    server_ = base::Fd(ends[1]);
    thread_ = std::thread([this, answer] { serve(answer); });
  }
  ~Launcher() {
    client_.reset();
    thread_.join();
  }
  int descriptor() const { return client_.get(); }

 private:
  void serve(const Answer& answer) {
    std::string line;
    for (char byte; ::recv(server_.get(), &byte, 1, 0) == 1;) {
      if (byte != '\n') {
        line += byte;
        continue;
      }
      const std::string answered = answer(line);
      if (answered.empty()) break;
      ::send(server_.get(), answered.data(), answered.size(), MSG_NOSIGNAL);
      line.clear();
    }
    server_.reset();
  }

  base::Fd client_, server_;
  std::thread thread_;
};

// One that keeps the protocol, with values of up to 63 characters.
class ProperLauncher {
 public:
  std::string operator()(const std::string& line) {
    const std::string command = line.substr(0, line.find(' '));
    asked.push_back(command);
    if (command == "cmd=init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n";
    if (command == "cmd=get_maxes")
      return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=64\n";
    if (command == "cmd=get_my_kvsname") return "cmd=my_kvsname kvsname=kvs_1\n";
    if (command == "cmd=barrier_in") return "cmd=barrier_out rc=0\n";
    if (command == "cmd=finalize") return "cmd=finalize_ack\n";
    const size_t value = line.find(" value=");
    if (command == "cmd=put") {
      values[line.substr(7, value - 7)] = line.substr(value + 7);
      return "cmd=put_result rc=0 msg=success\n";
    }
    const auto found = values.find(line.substr(7));
    if (found == values.end()) return "cmd=get_result rc=-1 msg=key_not_found\n";
    return "cmd=get_result rc=0 msg=success value=" + found->second + "\n";
  }

  std::map<std::string, std::string> values;
  std::vector<std::string> asked;
};

std::string every_byte(size_t bytes) {
  std::string text;
  for (size_t n = 0; n < bytes; ++n) text += static_cast<char>(n * 7);
  return text;
}

TEST(Pmi1, ShowsBytesOfAnyLength) {
  ProperLauncher proper;
  const Launcher launcher(std::ref(proper));
  for (const size_t bytes : {0, 1, 27, 28, 59, 60, 1000}) {
    Pmi1Meeting meeting(launcher.descriptor(), 3);
    meeting.publish("card", every_byte(bytes));
    meeting.fence();
    EXPECT_EQ(meeting.read(3, "card"), every_byte(bytes));
  }
  for (const auto& [key, value] : proper.values) EXPECT_LT(value.size(), 64u) << key;
}

TEST(Pmi1, KeepsTheValuesOfRanksAndKeysApart) {
  ProperLauncher proper;
  const Launcher launcher(std::ref(proper));
  for (uint32_t rank : {1, 11}) {
    Pmi1Meeting meeting(launcher.descriptor(), rank);
    for (const char* key : {"card", "connected"}) meeting.publish(key, key + std::to_string(rank));
  }
  Pmi1Meeting meeting(launcher.descriptor(), 0);
  EXPECT_EQ(meeting.read(1, "card"), "card1");
  EXPECT_EQ(meeting.read(11, "card"), "card11");
  EXPECT_EQ(meeting.read(1, "connected"), "connected1");
}

TEST(Pmi1, OpensASessionAndClosesIt) {
  ProperLauncher proper;
  {
    const Launcher launcher(std::ref(proper));
    Pmi1Meeting meeting(launcher.descriptor(), 0);
  }
  EXPECT_EQ(proper.asked.front(), "cmd=init");
  EXPECT_EQ(proper.asked.back(), "cmd=finalize");
}

struct Wrong {
  const char* name;
  const char* command;  // to which the answer is
  const char* answer;
  int error;
};

class WrongAnswer : public testing::TestWithParam<Wrong> {};

TEST_P(WrongAnswer, IsAnErrorAtTheCaller) {
  ProperLauncher proper;
  const Launcher launcher([&](const std::string& line) {
    return line.starts_with(GetParam().command) ? GetParam().answer : proper(line);
  });
  try {
    Pmi1Meeting meeting(launcher.descriptor(), 0);
    meeting.publish("card", every_byte(100));
    meeting.fence();
    meeting.read(0, "card");
    FAIL() << "no error";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), GetParam().error) << error.what();
  }
}

const Wrong kWrong[] = {
    {"HangsUp", "cmd=init", "", -EPIPE},
    {"HangsUpInABarrier", "cmd=barrier_in", "", -EPIPE},
    {"AnswersSomethingElse", "cmd=barrier_in", "cmd=put_result rc=0\n", -EPROTO},
    {"SaysNothing", "cmd=init", "\n", -EPROTO},
    {"RefusesTheVersion", "cmd=init", "cmd=response_to_init rc=-1\n", -EPROTO},
    {"KeepsTheResultToItself", "cmd=put", "cmd=put_result msg=success\n", -EPROTO},
    {"RefusesAValue", "cmd=put", "cmd=put_result rc=-1 msg=full\n", -EPROTO},
    {"HasNoMaxes", "cmd=get_maxes", "cmd=maxes vallen_max=many\n", -EPROTO},
    {"HasNoRoom", "cmd=get_maxes", "cmd=maxes vallen_max=0\n", -EPROTO},
    {"HasNoName", "cmd=get_my_kvsname", "cmd=my_kvsname\n", -EPROTO},
    {"DoesNotKnowTheKey", "cmd=get", "cmd=get_result rc=-1 msg=no\n", -EPROTO},
    {"GivesNoValue", "cmd=get ", "cmd=get_result rc=0\n", -EPROTO},
    {"GivesAnEmptyValue", "cmd=get ", "cmd=get_result rc=0 value=\n", -EPROTO},
    {"GivesAShortValue", "cmd=get ", "cmd=get_result rc=0 value=00000100abcd\n", -EPROTO},
    {"GivesALongValue", "cmd=get ", "cmd=get_result rc=0 value=00000001abcd\n", -EPROTO},
    {"GivesAValueThatIsNoNumber", "cmd=get ", "cmd=get_result rc=0 value=00000001zz\n", -EPROTO},
    {"GivesALengthThatIsNoNumber", "cmd=get ", "cmd=get_result rc=0 value=-0000001ab\n", -EPROTO},
    {"SaysTwoThings", "cmd=barrier_in", "cmd=barrier_out\ncmd=barrier_out\n", -EPROTO},
};

INSTANTIATE_TEST_SUITE_P(Pmi1, WrongAnswer, testing::ValuesIn(kWrong),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace nagaya::bootstrap
