// SPDX-License-Identifier: BSD-3-Clause
#include "launch/streams.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace nagaya::tools {
namespace {

ParallelJob job_of(uint32_t ranks, uint32_t id = 0) {
  ParallelJob job;
  job.id = id;
  job.applications = {{{"program"}, ranks, "", {}}};
  return job;
}

void write_text(int fd, const std::string& text) {
  ASSERT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool are_same(int a, int b) {
  struct stat of_a {
  }, of_b{};
  return ::fstat(a, &of_a) == 0 && ::fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

// Streams with labels whose lines go to a file.
class LabelledStreams : public ::testing::Test {
 protected:
  std::string shown() const { return text_of(path_); }

  base::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "out";
  Streams streams_{{.label = true, .output = path_}, 4};
};

TEST(Streams, AreByDefaultThoseOfTheLauncher) {
  Streams streams({}, 2);
  const RankStreams first = streams.open(job_of(2), 0), second = streams.open(job_of(2), 1);
  EXPECT_EQ(first.descriptors, (std::array{0, 1, 2}));
  EXPECT_EQ(second.descriptors[1], 1);
  EXPECT_EQ(second.descriptors[2], 2);
  char byte;
  EXPECT_EQ(::read(second.descriptors[0], &byte, 1), 0);
  EXPECT_TRUE(first.owned.empty() && second.owned.empty());
  streams.finish();
}

TEST(Streams, GiveTheInputToOneRankOfTheFirstJob) {
  Streams second({.input = "1"}, 2), nobody({.input = "none"}, 2);
  EXPECT_NE(second.open(job_of(2), 0).descriptors[0], 0);
  EXPECT_EQ(second.open(job_of(2), 1).descriptors[0], 0);
  EXPECT_NE(second.open(job_of(2, 1), 1).descriptors[0], 0);
  EXPECT_NE(nobody.open(job_of(2), 0).descriptors[0], 0);
}

TEST(Streams, RefuseValuesThatTheyDoNotKnow) {
  for (const char* input : {"", "2", "-1", "1x", "99999999999", "all", "None"})
    EXPECT_THROW(Streams({.input = input}, 2), base::Error) << input;
  for (const char* pattern : {"out-%", "%d", "%R"}) {
    EXPECT_THROW(Streams({.output = pattern}, 2), base::Error) << pattern;
    EXPECT_THROW(Streams({.errors = pattern}, 2), base::Error) << pattern;
  }
}

TEST(Streams, OpenAFileForEachRank) {
  const base::TemporaryFolder folder;
  Streams streams({.output = folder.path() / "%h-100%%-%j-%r"}, 2);
  char host[256] = "";
  ::gethostname(host, sizeof host);
  for (const uint32_t job : {0u, 7u})
    for (const uint32_t rank : {0u, 1u}) {
      const RankStreams own = streams.open(job_of(2, job), rank);
      write_text(own.descriptors[1], "out\n");
      write_text(own.descriptors[2], "error\n");
      const std::string name =
          std::string(host) + "-100%-" + std::to_string(job) + "-" + std::to_string(rank);
      EXPECT_EQ(text_of(folder.path() / name), "out\nerror\n");
    }
}

TEST(Streams, ShareAFileWhoseNameHasNoRank) {
  const base::TemporaryFolder folder;
  std::ofstream(folder.path() / "all") << "of an earlier job\n";
  Streams streams({.output = folder.path() / "all", .errors = folder.path() / "errors-%r"}, 2);
  const RankStreams first = streams.open(job_of(2), 0);
  write_text(first.descriptors[1], "0 first\n");
  const RankStreams second = streams.open(job_of(2), 1);
  write_text(second.descriptors[1], "1\n");
  write_text(second.descriptors[2], "error\n");
  write_text(first.descriptors[1], "0 second\n");
  EXPECT_EQ(text_of(folder.path() / "all"), "0 first\n1\n0 second\n");
  EXPECT_EQ(text_of(folder.path() / "errors-1"), "error\n");
  EXPECT_EQ(text_of(folder.path() / "errors-0"), "");
}

TEST(Streams, ErrorsMayHaveFilesOfTheirOwn) {
  const base::TemporaryFolder folder;
  Streams streams({.errors = folder.path() / "errors"}, 1);
  const RankStreams own = streams.open(job_of(1), 0);
  EXPECT_EQ(own.descriptors[1], 1);
  write_text(own.descriptors[2], "error\n");
  EXPECT_EQ(text_of(folder.path() / "errors"), "error\n");
}

TEST(Streams, NameAFileThatCannotBeOpened) {
  Streams streams({.output = "/no/such/folder/out-%r"}, 4);
  try {
    streams.open(job_of(4), 3);
    ADD_FAILURE();
  } catch (const base::Error& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/folder/out-3: No such file"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(LabelledStreams, PutTheRankBeforeEachLine) {
  RankStreams third = streams_.open(job_of(4), 3);
  EXPECT_FALSE(are_same(third.descriptors[1], third.descriptors[2]));
  write_text(third.descriptors[1], "one\n\ntwo and");
  write_text(third.descriptors[1], " a half\nno end");
  third.owned.clear();
  streams_.finish();
  EXPECT_EQ(shown(), "[3] one\n[3] \n[3] two and a half\n[3] no end\n");
}

TEST_F(LabelledStreams, NameTheJobOfSpawnedRanks) {
  write_text(streams_.open(job_of(2, 2), 1).descriptors[1], "spawned\n");
  streams_.finish();
  EXPECT_EQ(shown(), "[2:1] spawned\n");
}

TEST_F(LabelledStreams, KeepTheLinesOfRanksWhole) {
  constexpr int kRanks = 8, kLines = 2000;
  std::vector<std::thread> ranks;
  for (uint32_t rank = 0; rank < kRanks; ++rank)
    ranks.emplace_back([own = streams_.open(job_of(kRanks), rank)] {
      for (int line = 0; line < kLines; ++line) {
        const std::string text = std::string(1 + line % 100, 'x') + "\n";
        const size_t half = text.size() / 2;
        write_text(own.descriptors[1], text.substr(0, half));
        write_text(own.descriptors[1], text.substr(half));
      }
    });
  for (std::thread& rank : ranks) rank.join();
  ranks.clear();
  streams_.finish();
  std::istringstream lines(shown());
  std::vector<int> seen(kRanks);
  for (std::string line; std::getline(lines, line);) {
    const int rank = line[1] - '0';
    EXPECT_EQ(line,
              "[" + std::to_string(rank) + "] " + std::string(1 + seen.at(rank)++ % 100, 'x'));
  }
  EXPECT_EQ(seen, std::vector<int>(kRanks, kLines));
}

TEST_F(LabelledStreams, BreakALineThatIsTooLong) {
  {
    const RankStreams own = streams_.open(job_of(1), 0);
    for (const size_t bytes : {Streams::kLineMax, 3 * Streams::kLineMax + 5}) {
      const std::string text = std::string(bytes, 'x') + "\n";
      for (size_t at = 0; at < text.size(); at += 4096)
        write_text(own.descriptors[1], text.substr(at, 4096));
    }
  }
  streams_.finish();
  const std::string full = "[0] " + std::string(Streams::kLineMax, 'x') + "\n";
  EXPECT_EQ(shown(), full + full + full + full + "[0] xxxxx\n");
}

TEST_F(LabelledStreams, DoNotWaitForChildrenThatRanksHaveLeftBehind) {
  const RankStreams kept = streams_.open(job_of(1), 0);
  write_text(kept.descriptors[1], "done\nand");
  const auto begin = std::chrono::steady_clock::now();
  streams_.finish();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4 * Streams::kGrace);
  EXPECT_EQ(shown(), "[0] done\n[0] and\n");
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(::write(kept.descriptors[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
}

// A rank's output ends up in a place that nobody reads for a while: the ranks wait, nothing is
// lost.
TEST(Streams, AwaitASlowReader) {
  const base::TemporaryFolder folder;
  const std::string path = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const base::Fd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK));
  Streams streams({.label = true, .output = path}, 1);
  std::thread rank([own = streams.open(job_of(1), 0)] {
    for (int line = 0; line < 50000; ++line) write_text(own.descriptors[1], "line\n");
  });
  std::this_thread::sleep_for(2 * Streams::kGrace);
  ::fcntl(reader.get(), F_SETFL, 0);
  size_t bytes = 0;
  std::thread reading([&] {
    char buffer[4096];
    ssize_t got;
    while ((got = ::read(reader.get(), buffer, sizeof buffer)) > 0) bytes += size_t(got);
  });
  rank.join();
  streams.finish();
  reading.join();
  EXPECT_EQ(bytes, 50000 * std::string("[0] line\n").size());
}

TEST(Streams, SayThatOutputCannotBeWritten) {
  Streams full({.label = true, .output = "/dev/full"}, 1);
  write_text(full.open(job_of(1), 0).descriptors[1], "line\n");
  EXPECT_THROW(full.finish(), base::Error);
}

}  // namespace
}  // namespace nagaya::tools
