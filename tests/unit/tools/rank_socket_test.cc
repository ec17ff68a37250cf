// SPDX-License-Identifier: BSD-3-Clause
#include "launch/rank_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

namespace nagaya::tools {
namespace {

constexpr uint32_t kRanks = 3;

// A launcher whose rank N gets the reading end of a pipe with the letter 'a' + N in it.
class RankSocketTest : public testing::Test {
 protected:
  RankSocketTest() {
    ::setenv("PMI_FD", std::to_string(old_.get()).c_str(), 1);
    const std::string variable = socket_.variable();
    ::setenv("NAGAYA_RUN", variable.substr(variable.find('=') + 1).c_str(), 1);
  }
  ~RankSocketTest() override {
    ::unsetenv("NAGAYA_RUN");
    ::unsetenv("PMI_FD");
    std::filesystem::remove_all(folder_);
  }

  static std::string new_folder() {
    std::string path = (std::filesystem::temp_directory_path() / "rank-socket-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) base::throw_errno(path);
    return path;
  }

  static base::Fd pipe_with(char letter) {
    int ends[2];
    if (::pipe(ends) != 0 || ::write(ends[1], &letter, 1) != 1) base::throw_errno("pipe");
    ::close(ends[1]);
    return base::Fd(ends[0]);
  }

  // Lets a program of the rank renew its descriptor; returns what that then leads to.
  char renewed(uint32_t rank) {
    bool is_done = false;
    std::thread program([&] {
      renew_pmi1_connection(rank);
      loop_.post([&] { is_done = true; });
    });
    while (!is_done) loop_.serve_once(100);
    program.join();
    char letter = 0;
    return ::read(old_.get(), &letter, 1) == 1 ? letter : '\0';
  }

  base::Fd connect() const { return task::connect_to_host(*task::find_place(folder_ + "/ranks")); }

  base::Fd old_ = pipe_with('-');
  EventLoop loop_;
  std::string folder_ = new_folder();
  RankSocket socket_{loop_, folder_ + "/ranks", [](uint32_t rank) {
                       if (rank >= kRanks) throw base::Error(-EINVAL, "no such rank");
                       return pipe_with(static_cast<char>('a' + rank));
                     }};
};

TEST_F(RankSocketTest, GivesEachProgramADescriptorOfItsRank) {
  for (const uint32_t rank : {2U, 0U, 0U, 1U}) EXPECT_EQ(renewed(rank), 'a' + char(rank));
}

TEST_F(RankSocketTest, LeavesADescriptorOfARankThatItDoesNotKnow) {
  EXPECT_EQ(renewed(kRanks), '-');
}

TEST_F(RankSocketTest, LeavesTheDescriptorOfAProgramWithoutALauncher) {
  ::unsetenv("NAGAYA_RUN");
  EXPECT_EQ(renewed(0), '-');
}

TEST_F(RankSocketTest, LeavesTheDescriptorWhenTheLauncherHasGone) {
  ::setenv("NAGAYA_RUN", (folder_ + "/other").c_str(), 1);
  EXPECT_EQ(renewed(0), '-');
}

TEST_F(RankSocketTest, LeavesTheDescriptorWhenTheLauncherHasGoneWithItsFolder) {
  ::setenv("NAGAYA_RUN", "/no/such/folder/ranks", 1);
  EXPECT_EQ(renewed(0), '-');
}

TEST_F(RankSocketTest, LeavesTheDescriptorWhenOthersMayEnterTheFolder) {
  ::chmod(folder_.c_str(), 0755);
  EXPECT_EQ(renewed(0), '-');
}

TEST_F(RankSocketTest, ServesOthersWhateverAProgramSends) {
  std::vector<base::Fd> silent;
  for (int n = 0; n < 200; ++n) silent.push_back(connect());
  const base::Fd liar = connect(), gone = connect();
  ::send(liar.get(), "garbage, and more of it", 23, MSG_NOSIGNAL);
  ::shutdown(gone.get(), SHUT_RDWR);
  EXPECT_EQ(renewed(1), 'b');
}

}  // namespace
}  // namespace nagaya::tools
