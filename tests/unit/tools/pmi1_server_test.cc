// SPDX-License-Identifier: BSD-3-Clause
// Speaks PMI-1 to the launcher's server as ranks do: over their sockets, line by line.
#include "launch/pmi1_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <fstream>
#include <optional>

#include "../../fuzz/pmi1_server_target.h"
#include "base/temporary_folder.h"
#include "corpus.h"
#include "tool.h"

namespace nagaya::tools {

namespace {
std::vector<std::string> complaints;
}  // namespace

void complain(const std::string& text) {
  complaints.push_back(text);
}

namespace {

class Pmi1ServerTest : public testing::Test, protected LauncherServices {
 protected:
  // A connection of a rank.
  class Client {
   public:
    Client(Pmi1ServerTest& test, RankId rank) : test_(&test), socket_(test.server.connect(rank)) {}

    void say(const std::string& bytes) {
      ASSERT_EQ(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(bytes.size()));
      test_->loop.serve_once(0);
    }
    // Returns what the server has said since the last call; "closed" if it has hung up.
    std::string heard() {
      char bytes[16 << 10];
      const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (count < 0 && errno == EAGAIN) return "";
      return count <= 0 ? "closed" : std::string(bytes, static_cast<size_t>(count));
    }
    std::string ask(const std::string& command) {
      say(command + "\n");
      return heard();
    }
    void leave() {
      socket_.reset();
      test_->loop.serve_once(0);
    }
    bool is_open() const {
      pollfd other{socket_.get(), 0, 0};
      return ::poll(&other, 1, 0) == 0;
    }
    int fd() const { return socket_.get(); }

   private:
    Pmi1ServerTest* test_;
    base::Fd socket_;
  };

  Pmi1ServerTest() {
    complaints.clear();
    jobs.push_back({.name = "job",
                    .applications = {{{"a"}, 2, "", {}}, {{"b"}, 1, "", {}}},
                    .universe_size = 9,
                    .preset_values = {}});
    server.add(jobs.front());
  }
  Client client(uint32_t rank, uint32_t job = 0) { return {*this, {job, rank}}; }

  const ParallelJob& spawn(RankId parent, std::vector<Application> applications,
                           std::map<std::string, std::string> preset_values) override {
    if (refusal) throw *refusal;
    spawner = parent;
    jobs.push_back({.id = static_cast<uint32_t>(jobs.size()),
                    .name = "child",
                    .applications = std::move(applications),
                    .preset_values = std::move(preset_values)});
    server.add(jobs.back());
    return jobs.back();
  }
  void abort(RankId rank, int exit_code, const std::string& text) override {
    aborted += std::to_string(rank.rank) + " " + std::to_string(exit_code) + " " + text;
  }
  void mpi_started(RankId rank) override { events += "+" + std::to_string(rank.rank); }
  void mpi_ended(RankId rank) override { events += "-" + std::to_string(rank.rank); }

  EventLoop loop;
  Pmi1Server server{loop, *this};
  std::deque<ParallelJob> jobs;
  std::optional<base::Error> refusal;
  RankId spawner;
  std::string aborted, events;
};

TEST_F(Pmi1ServerTest, TellsARankAboutItsJob) {
  Client rank = client(2);
  EXPECT_EQ(rank.ask("cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_EQ(rank.ask("cmd=get_maxes"), "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
  EXPECT_EQ(rank.ask("cmd=get_appnum"), "cmd=appnum appnum=1\n");
  EXPECT_EQ(rank.ask("cmd=get_universe_size"), "cmd=universe_size size=-1\n");
  EXPECT_EQ(rank.ask("cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=job\n");
  EXPECT_EQ(rank.ask("cmd=get kvsname=job key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,3))\n");
  EXPECT_EQ(rank.ask("cmd=finalize"), "cmd=finalize_ack\n");
  EXPECT_EQ(events, "+2-2");
  EXPECT_TRUE(complaints.empty());
}

TEST_F(Pmi1ServerTest, RefusesAnotherVersion) {
  Client rank = client(0);
  EXPECT_EQ(rank.ask("cmd=init pmi_version=2 pmi_subversion=0"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n");
  EXPECT_EQ(events, "");
}

TEST_F(Pmi1ServerTest, ServesMpiThatIsInitializedAgain) {
  Client rank = client(0);
  for (int n = 0; n < 2; ++n) {
    rank.ask("cmd=init pmi_version=1 pmi_subversion=1");
    EXPECT_EQ(rank.ask("cmd=finalize"), "cmd=finalize_ack\n");
  }
  EXPECT_EQ(events, "+0-0+0-0");
}

TEST_F(Pmi1ServerTest, ShowsTheValuesOfOneRankToAnother) {
  Client writer = client(0), reader = client(1);
  EXPECT_EQ(reader.ask("cmd=get kvsname=job key=card"),
            "cmd=get_result rc=-1 msg=key_card_not_found value=unknown\n");
  for (const char* value : {"first", "a=b;c"}) {
    EXPECT_EQ(writer.ask(std::string("cmd=put kvsname=job key=card value=") + value),
              "cmd=put_result rc=0 msg=success\n");
    EXPECT_EQ(reader.ask("cmd=get kvsname=job key=card"),
              std::string("cmd=get_result rc=0 msg=success value=") + value + "\n");
  }
}

TEST_F(Pmi1ServerTest, LetsNoRankReplaceTheLaunchersValues) {
  Client rank = client(0);
  EXPECT_EQ(rank.ask("cmd=put kvsname=job key=PMI_process_mapping value=x"),
            "cmd=put_result rc=-1 msg=key_is_reserved\n");
  EXPECT_EQ(rank.ask("cmd=get kvsname=job key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,3))\n");
}

TEST_F(Pmi1ServerTest, TakesCommandsInAnyPieces) {
  Client rank = client(0);
  for (const char byte : std::string("cmd=get_appnum\ncmd=get_my_kvs")) rank.say({byte});
  EXPECT_EQ(rank.heard(), "cmd=appnum appnum=0\n");
  EXPECT_EQ(rank.ask("name\ncmd=get_appnum"), "cmd=my_kvsname kvsname=job\ncmd=appnum appnum=0\n");
}

TEST_F(Pmi1ServerTest, LetsRanksOutOfABarrierWhenAllAreIn) {
  Client ranks[] = {client(0), client(1), client(2)};
  for (int n = 0; n < 2; ++n) {
    EXPECT_EQ(ranks[2].ask("cmd=barrier_in"), "");
    EXPECT_EQ(ranks[0].ask("cmd=barrier_in"), "");
    EXPECT_EQ(ranks[1].ask("cmd=barrier_in"), "cmd=barrier_out\n");
    EXPECT_EQ(ranks[0].heard(), "cmd=barrier_out\n");
    EXPECT_EQ(ranks[2].heard(), "cmd=barrier_out\n");
  }
}

TEST_F(Pmi1ServerTest, CountsTheRanksInABarrierNotTheirConnections) {
  Client first = client(0), second = client(0), other = client(1), last = client(2);
  first.say("cmd=barrier_in\n");
  second.say("cmd=barrier_in\n");
  other.say("cmd=barrier_in\n");
  EXPECT_EQ(other.heard(), "");
  EXPECT_EQ(last.ask("cmd=barrier_in"), "cmd=barrier_out\n");
  EXPECT_EQ(first.heard(), "");
  EXPECT_EQ(second.heard(), "cmd=barrier_out\n");
  EXPECT_EQ(other.heard(), "cmd=barrier_out\n");
}

TEST_F(Pmi1ServerTest, KeepsARankInTheBarrierWhoseConnectionHasEnded) {
  Client first = client(0), other = client(1), last = client(2);
  first.say("cmd=barrier_in\n");
  first.leave();
  other.say("cmd=barrier_in\n");
  EXPECT_EQ(last.ask("cmd=barrier_in"), "cmd=barrier_out\n");
  EXPECT_EQ(other.heard(), "cmd=barrier_out\n");
}

// As MPICH 4.0 and 5.0 send it.
constexpr char kSpawn[] =
    "mcmd=spawn\nnprocs=2\nexecname=worker\ntotspawns=1\nspawnssofar=1\n"
    "arg1=two words\narg2=import os\n\nx = 1\narg3=\nargcnt=3\n"
    "preput_num=1\npreput_key_0=PARENT_ROOT_PORT_NAME\npreput_val_0=tag#0$port#1$\n"
    "info_num=3\ninfo_key_0=wdir\ninfo_val_0=/tmp\ninfo_key_1=strange\ninfo_val_1=a b\n"
    "info_key_2=host\ninfo_val_2=localhost\nendcmd\n";

TEST_F(Pmi1ServerTest, SpawnsAProgram) {
  Client parent = client(1);
  parent.say(kSpawn);
  EXPECT_EQ(parent.heard(), "cmd=spawn_result rc=0\n");
  EXPECT_EQ(spawner, (RankId{0, 1}));
  ASSERT_EQ(jobs.back().applications.size(), 1u);
  const Application& program = jobs.back().applications[0];
  EXPECT_EQ(program.command,
            (std::vector<std::string>{"worker", "two words", "import os\n\nx = 1", ""}));
  EXPECT_EQ(program.count, 2u);
  EXPECT_EQ(program.directory, "/tmp");
  Client child = client(0, 1);
  EXPECT_EQ(child.ask("cmd=get kvsname=child key=PARENT_ROOT_PORT_NAME"),
            "cmd=get_result rc=0 msg=success value=tag#0$port#1$\n");
  EXPECT_EQ(child.ask("cmd=get kvsname=child key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n");
}

TEST_F(Pmi1ServerTest, TakesASpawnInAnyPieces) {
  Client parent = client(0);
  for (const char byte : std::string(kSpawn)) parent.say({byte});
  EXPECT_EQ(parent.heard(), "cmd=spawn_result rc=0\n");
}

TEST_F(Pmi1ServerTest, SpawnsSeveralPrograms) {
  const base::TemporaryFolder folder;
  std::ofstream(folder.path() / "second").put('\n');
  ::chmod((folder.path() / "second").c_str(), 0700);
  Client parent = client(0);
  parent.say(
      "mcmd=spawn\nnprocs=3\nexecname=first\ntotspawns=2\nspawnssofar=1\nargcnt=0\n"
      "preput_num=0\ninfo_num=0\nendcmd\n");
  EXPECT_EQ(parent.heard(), "");
  parent.say(
      "mcmd=spawn\nnprocs=1\nexecname=second\ntotspawns=2\nspawnssofar=2\narg1=x\nargcnt=1\n"
      "info_num=1\ninfo_key_0=path\ninfo_val_0=/nowhere:" +
      folder.path().string() + "\nendcmd\n");
  EXPECT_EQ(parent.heard(), "cmd=spawn_result rc=0\n");
  ASSERT_EQ(jobs.back().applications.size(), 2u);
  EXPECT_EQ(jobs.back().applications[0].command, std::vector<std::string>{"first"});
  EXPECT_EQ(jobs.back().applications[1].command,
            (std::vector<std::string>{folder.path() / "second", "x"}));
  EXPECT_EQ(client(2, 1).ask("cmd=get_appnum"), "cmd=appnum appnum=0\n");
  EXPECT_EQ(client(3, 1).ask("cmd=get_appnum"), "cmd=appnum appnum=1\n");
}

TEST_F(Pmi1ServerTest, SaysWhyItDoesNotSpawn) {
  const std::string refused = "cmd=spawn_result rc=-1 msg=spawn_failed\n";
  const std::string begin = "mcmd=spawn\ntotspawns=1\nexecname=worker\n";
  Client parent = client(0);
  refusal.emplace(-ENOENT, "no such program");
  EXPECT_EQ(parent.ask(begin + "nprocs=1\nendcmd"), refused);
  refusal.reset();
  for (const char* fields : {"nprocs=0", "nprocs=-1", "nprocs=65536", "nprocs=1\nargcnt=1",
                             "nprocs=1\ninfo_num=1\ninfo_key_0=host\ninfo_val_0=elsewhere"})
    EXPECT_EQ(parent.ask(begin + fields + "\nendcmd"), refused) << fields;
  EXPECT_EQ(parent.ask("cmd=get_appnum"), "cmd=appnum appnum=0\n");
  EXPECT_EQ(jobs.size(), 1u);
  EXPECT_EQ(complaints.size(), 6u);
  EXPECT_EQ(complaints.front(), "MPI_Comm_spawn: no such program");
}

TEST_F(Pmi1ServerTest, ShowsPublishedNamesToAllJobs) {
  Client parent = client(0);
  parent.say(kSpawn);
  parent.heard();
  Client child = client(1, 1);
  EXPECT_EQ(child.ask("cmd=publish_name service=s port=tag=0$p"),
            "cmd=publish_result rc=0 msg=success\n");
  EXPECT_EQ(parent.ask("cmd=publish_name service=s port=other"),
            "cmd=publish_result rc=1 msg=key_already_present\n");
  EXPECT_EQ(parent.ask("cmd=lookup_name service=s"),
            "cmd=lookup_result rc=0 msg=success port=tag=0$p\n");
  EXPECT_EQ(parent.ask("cmd=unpublish_name service=s"), "cmd=unpublish_result rc=0 msg=success\n");
  EXPECT_EQ(child.ask("cmd=unpublish_name service=s"),
            "cmd=unpublish_result rc=1 msg=service_not_found\n");
  EXPECT_EQ(child.ask("cmd=lookup_name service=s"),
            "cmd=lookup_result rc=1 msg=service_not_found\n");
}

TEST_F(Pmi1ServerTest, EndsAllJobsWhenARankAborts) {
  Client rank = client(2);
  // The rest of MPICH 4.2's text, in lines of their own.
  EXPECT_EQ(rank.ask("cmd=abort exitcode=-3 message=Fatal error: x=1\n and so on"), "");
  EXPECT_EQ(aborted, "2 -3 Fatal error: x=1");
  EXPECT_EQ(rank.ask("cmd=get_appnum"), "");
  EXPECT_TRUE(complaints.empty());
  EXPECT_EQ(client(0).ask("cmd=abort"), "");
  EXPECT_EQ(aborted, "2 -3 Fatal error: x=10 1 ");
}

TEST_F(Pmi1ServerTest, ForgetsAJobWithItsConnections) {
  Client rank = client(0), waiting = client(1);
  waiting.say("cmd=barrier_in\n");
  server.remove(0);
  server.remove(0);
  EXPECT_EQ(rank.heard(), "closed");
  EXPECT_EQ(waiting.heard(), "closed");
}

TEST_F(Pmi1ServerTest, KeepsItsEndFromThePrograms) {
  EXPECT_NE(::fcntl(client(0).fd(), F_GETFD) & FD_CLOEXEC, 0);
}

struct Malformed {
  const char* name;
  std::string bytes;
  const char* complaint;
};

class MalformedMessage : public Pmi1ServerTest, public testing::WithParamInterface<Malformed> {};

TEST_P(MalformedMessage, EndsTheConnectionWithOneLine) {
  Client other = client(1);
  for (int n = 0; n < 2; ++n) {
    Client rank = client(2);
    std::string_view rest = GetParam().bytes;
    while (!rest.empty() && rank.is_open()) {
      rank.say(std::string(rest.substr(0, 10'000)));
      rest.remove_prefix(std::min<size_t>(rest.size(), 10'000));
    }
    EXPECT_EQ(rank.heard(), "closed");
    EXPECT_EQ(complaints, std::vector<std::string>{std::string("rank 2: malformed PMI message: ") +
                                                   GetParam().complaint});
  }
  EXPECT_EQ(other.ask("cmd=get_appnum"), "cmd=appnum appnum=0\n");
}

const Malformed kMalformed[] = {
    {"Unknown", "cmd=get_ranks\n", "unknown command get_ranks"},
    {"NoCommand", "key=a\n", "begins with neither cmd= nor mcmd=spawn"},
    {"AnotherMulti", "mcmd=other\n", "begins with neither cmd= nor mcmd=spawn"},
    {"Blank", " cmd=get_appnum\n", "begins with neither cmd= nor mcmd=spawn"},
    {"Empty", "\n", "begins with neither cmd= nor mcmd=spawn"},
    {"Pmi2", "    22cmd=fullinit;pmijobid=a;\n", "begins with neither cmd= nor mcmd=spawn"},
    {"Binary", "\xff\x01\x80\n", "begins with neither cmd= nor mcmd=spawn"},
    {"ZeroByte", std::string("cmd=put key=a\0b value=c\n", 25), "a zero byte"},
    {"NoKey", "cmd=get kvsname=job\n", "no key"},
    {"NoValue", "cmd=put kvsname=job key=a value\n", "no value"},
    {"NoVersion", "cmd=init\n", "no pmi_version"},
    {"NoService", "cmd=lookup_name\n", "no service"},
    {"LongKey", "cmd=get key=" + std::string(65, 'k') + "\n", "key has more than 64 bytes"},
    {"LongValue", "cmd=put key=a value=" + std::string(1025, 'v') + "\n",
     "value has more than 1024 bytes"},
    {"LongPort", "cmd=publish_name service=a port=" + std::string(1025, 'p') + "\n",
     "port has more than 1024 bytes"},
    {"ExitCode", "cmd=abort exitcode=4294967296\n", "exitcode=4294967296 is not a number in range"},
    {"Endless", std::string(400'000, 'x'), "a line of more than 131072 bytes"},
    {"LongLine", "cmd=put key=" + std::string(131'072, 'k') + "\n",
     "a line of more than 131072 bytes"},
    {"SpawnLine", "mcmd=spawn\nnprocs\n", "a line that is no field"},
    {"SpawnCount", "mcmd=spawn\nendcmd\n", "no totspawns"},
    {"EndlessSpawn",
     [] {
       std::string bytes = "mcmd=spawn\narg1=a\n";
       for (int n = 0; n < 30; ++n) bytes += std::string(100'000, 'x') + "\n";
       return bytes;
     }(),
     "a spawn of more than 1048576 bytes"}};

INSTANTIATE_TEST_SUITE_P(Pmi1Server, MalformedMessage, testing::ValuesIn(kMalformed),
                         [](const auto& one) { return one.param.name; });

TEST_F(Pmi1ServerTest, DoesNotWaitForARankThatNeverReads) {
  Client silent = client(0), other = client(1);
  std::string questions;
  for (int n = 0; n < 100; ++n) questions += "cmd=get_maxes\n";
  for (int n = 0; n < 1000 && silent.is_open(); ++n) {
    silent.say(questions);
    ASSERT_EQ(other.ask("cmd=get_appnum"), "cmd=appnum appnum=0\n");
  }
  EXPECT_FALSE(silent.is_open());
  EXPECT_EQ(complaints, std::vector<std::string>{"rank 0: does not read its PMI connection"});
}

TEST_F(Pmi1ServerTest, NamesTheJobOfASpawnedRankInAComplaint) {
  Client parent = client(0);
  parent.say(kSpawn);
  client(1, 1).ask("cmd=x");
  EXPECT_EQ(complaints,
            std::vector<std::string>{"rank 1 of job 1: malformed PMI message: unknown command x"});
}

TEST(Corpus, OfCommandsByPmi1IsAnsweredOrRefused) {
  EXPECT_GT(replay("pmi1_server", fuzz::ask_pmi1_server), 8u);
}

}  // namespace
}  // namespace nagaya::tools
