// SPDX-License-Identifier: BSD-3-Clause
// The queue of the host's requests for files, over both engines, on real files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "delegatee/files/queue.h"

namespace nagaya::files {
namespace {

using mailbox::Owner;

const Owner kFirst = Owner::task(0, 1), kSecond = Owner::task(1, 1);

// Counts the transfers of an engine, which it passes on. May tell of an error of the storage.
class CountingEngine : public Engine {
 public:
  explicit CountingEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  void start(Transfer& transfer) override {
    ++started;
    engine_->start(transfer);
  }
  Transfer* finished() override {
    Transfer* const transfer = engine_->finished();
    if (transfer != nullptr && transfer->op == Op::kSync && sync_error != 0)
      transfer->result = std::exchange(sync_error, 0);
    return transfer;
  }
  int fd() const override { return engine_->fd(); }

  int started = 0;
  int sync_error = 0;  // of the next sync; as the kernel's, it is told once

 private:
  std::unique_ptr<Engine> engine_;
};

std::unique_ptr<Engine> open_engine(const std::string& name) {
  return name == "uring" ? open_uring_engine() : open_blocking_engine();
}

class Files : public testing::TestWithParam<const char*> {
 protected:
  struct Ended {
    Owner owner;
    const nagaya_file_request* request;
    int error;
    uint64_t bytes;
  };

  void SetUp() override {
    auto engine = open_engine(GetParam());
    if (engine == nullptr) GTEST_SKIP() << "this kernel, or this build, has no io_uring";
    engine_.emplace(std::move(engine));
    queue_.emplace(*engine_,
                   [this](Owner owner, const Command& command, int error, uint64_t bytes) {
                     ended_.push_back({owner, command.request, error, bytes});
                   });
  }
  void TearDown() override {
    while (queue_ && queue_->transfers() != 0) queue_->finish_one();
  }

  uint32_t open(Owner owner, int flags = O_RDWR) {
    return take(owner, ::open(path_.c_str(), flags | O_CLOEXEC));
  }
  uint32_t take(Owner owner, int fd) {
    Handles handle;
    OpenFiles file;
    file.emplace_back().fd = base::Fd(fd);
    handle.try_emplace(++handles_, Handle{owner});
    queue_->open(handle, file);
    return handles_;
  }
  void write(Owner owner, uint32_t file, const std::string& data, uint64_t offset) {
    accept(owner, {Op::kWrite, file, offset, bytes_of(data), data.size(), new_request()});
  }
  void accept(Owner owner, const Command& command) { queue_->accept(command, owner); }
  nagaya_file_request* new_request() { return &requests_.emplace_back(); }
  static std::byte* bytes_of(const std::string& data) {
    return reinterpret_cast<std::byte*>(const_cast<char*>(data.data()));
  }

  // Carries out everything that was accepted.
  void work() {
    while (queue_->start_one() || queue_->finish_one() || queue_->transfers() != 0) continue;
  }
  std::string content() {
    std::string all(4 << 20, '\0');
    const ssize_t bytes = ::pread(fd_.get(), all.data(), all.size(), 0);
    all.resize(static_cast<size_t>(bytes));
    return all;
  }
  // Returns how the request has ended that was made as number `n`.
  const Ended& ended(size_t n) {
    for (const Ended& one : ended_)
      if (one.request == &requests_[n]) return one;
    throw std::runtime_error("a request has not ended");
  }

  std::string path_ = testing::TempDir() + "files_test";
  base::Fd fd_{::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  std::optional<CountingEngine> engine_;
  std::optional<Queue> queue_;
  std::deque<nagaya_file_request> requests_;
  std::vector<Ended> ended_;
  uint32_t handles_ = 0;
};

TEST_P(Files, OfOneNameShareADescriptorAndAdjacentPiecesOfTwoTasksAreOneTransfer) {
  const uint32_t first = open(kFirst), second = open(kSecond);
  const std::string one(1000, 'a'), two(500, 'b'), three(700, 'c');
  write(kFirst, first, three, 1500);
  write(kSecond, second, two, 1000);
  write(kFirst, first, one, 0);
  work();
  EXPECT_EQ(engine_->started, 1);
  EXPECT_EQ(content(), one + two + three);
  EXPECT_EQ(ended_.size(), 3u);
  EXPECT_EQ(ended(1).owner, kSecond);
  EXPECT_EQ(ended(1).bytes, 500u);
}

TEST_P(Files, TheOldestRequestIsNeverOvertakenForEver) {
  const uint32_t file = open(kFirst);
  const std::string data(100, 'a');
  write(kFirst, file, data, 1 << 20);
  for (uint64_t n = 0; ended_.size() < 10; ++n) {
    write(kFirst, file, data, n * 200);
    queue_->start_one();
    while (queue_->transfers() != 0) queue_->finish_one();
  }
  EXPECT_EQ(ended_[0].request, &requests_[0]);
}

TEST_P(Files, OfAnotherModeAreNotShared) {
  const uint32_t written = open(kFirst), read = open(kFirst, O_RDONLY);
  const std::string data = "data";
  write(kFirst, read, data, 0);
  write(kFirst, written, data, 0);
  work();
  EXPECT_EQ(ended(0).error, -EBADF);
  EXPECT_EQ(ended(1).error, 0);
}

TEST_P(Files, AreUsedByTheirOwnersOnly) {
  const uint32_t first = open(kFirst);
  const std::string data = "data";
  write(kSecond, first, data, 0);
  write(kFirst, first + 1, data, 0);
  write(Owner::task(0, 2), first, data, 0);
  work();
  for (size_t n = 0; n < 3; ++n) EXPECT_EQ(ended(n).error, -EBADF);
  EXPECT_EQ(content(), "");
}

TEST_P(Files, ARequestThatFailsDoesNotFailItsNeighbours) {
  const uint32_t file = open(kFirst);
  const std::string data(4096, 'a');
  write(kFirst, file, data, 0);
  accept(kFirst, {Op::kWrite, file, 4096, reinterpret_cast<std::byte*>(16), 4096, new_request()});
  write(kFirst, file, data, 8192);
  work();
  EXPECT_EQ(ended(0).error, 0);
  EXPECT_EQ(ended(1).error, -EFAULT);
  EXPECT_EQ(ended(2).error, 0);
  EXPECT_EQ(content(), data + std::string(4096, '\0') + data);
}

TEST_P(Files, AShortWriteIsContinuedUntilTheKernelSaysWhy) {
  rlimit before{}, limit{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  limit = {6000, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const uint32_t file = open(kFirst);
  const std::string data(4096, 'a');
  for (uint64_t n = 0; n < 3; ++n) write(kFirst, file, data, n * 4096);
  work();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(ended(0).error, 0);
  EXPECT_EQ(ended(1).error, -EFBIG);
  EXPECT_EQ(ended(1).bytes, 6000u - 4096);
  EXPECT_EQ(ended(2).error, -EFBIG);
  EXPECT_EQ(ended(2).bytes, 0u);
}

TEST_P(Files, ReadsEndAtTheEndOfTheFile) {
  const uint32_t file = open(kFirst);
  const std::string data(5000, 'a');
  write(kFirst, file, data, 0);
  work();
  std::string there(3 * 4000, '\0');
  for (uint64_t n = 0; n < 3; ++n)
    accept(kFirst, {Op::kRead, file, n * 4000, bytes_of(there) + n * 4000, 4000, new_request()});
  work();
  EXPECT_EQ(ended(1).bytes, 4000u);
  EXPECT_EQ(ended(2).bytes, 1000u);
  EXPECT_EQ(ended(3).bytes, 0u);
  EXPECT_EQ(ended(3).error, 0);
  EXPECT_EQ(there.substr(0, 5000), data);
}

TEST_P(Files, ASyncFollowsTheEarlierRequestsOfItsHandle) {
  const uint32_t file = open(kFirst);
  const std::string data(20 << 20, 'a');
  write(kFirst, file, data, 0);
  accept(kFirst, {Op::kSync, file, 0, nullptr, 0, new_request()});
  EXPECT_TRUE(queue_->start_one());
  EXPECT_FALSE(queue_->start_one());
  work();
  EXPECT_EQ(engine_->started, 3 + 1);  // 8 MiB at a time
  EXPECT_EQ(ended_[0].request, &requests_[0]);
  EXPECT_EQ(ended_[1].request, &requests_[1]);
}

TEST_P(Files, SyncsOfTwoTasksAreOneCall) {
  const uint32_t first = open(kFirst), second = open(kSecond);
  const std::string data(1000, 'a');
  write(kFirst, first, data, 0);
  write(kSecond, second, data, data.size());
  accept(kFirst, {Op::kSync, first, 0, nullptr, 0, new_request()});
  accept(kSecond, {Op::kSync, second, 0, nullptr, 0, new_request()});
  work();
  EXPECT_EQ(engine_->started, 1 + 1);
  EXPECT_EQ(ended_.size(), 4u);
}

TEST_P(Files, ALostWriteFailsTheSyncsOfAllTasksUntilAllHaveClosed) {
  const uint32_t first = open(kFirst), second = open(kSecond);
  const auto sync = [&](Owner owner, uint32_t file) {
    accept(owner, {Op::kSync, file, 0, nullptr, 0, new_request()});
    work();
    return ended_.back().error;
  };
  const auto close = [&](Owner owner, uint32_t file) {
    accept(owner, {Op::kClose, file, 0, nullptr, 0, new_request()});
    work();
  };
  engine_->sync_error = -EIO;
  EXPECT_EQ(sync(kFirst, first), -EIO);
  EXPECT_EQ(sync(kSecond, second), -EIO);
  close(kFirst, first);
  EXPECT_EQ(sync(kSecond, second), -EIO);
  close(kSecond, second);
  EXPECT_EQ(sync(kFirst, open(kFirst)), 0);
}

TEST_P(Files, AreClosedAfterTheirRequests) {
  const uint32_t file = open(kFirst);
  const std::string data = "data";
  write(kFirst, file, data, 0);
  accept(kFirst, {Op::kClose, file, 0, nullptr, 0, new_request()});
  work();
  EXPECT_EQ(ended_[0].request, &requests_[0]);
  EXPECT_EQ(ended_[1].request, &requests_[1]);
  EXPECT_FALSE(queue_->is_used_by(kFirst));
  write(kFirst, file, data, 0);
  EXPECT_EQ(ended(2).error, -EBADF);
}

TEST_P(Files, OfAnEndedTaskAreUsedUntilTheirTransfersHaveEnded) {
  const uint32_t first = open(kFirst), second = open(kSecond);
  const std::string data(4096, 'a'), large(20 << 20, 'b');
  write(kFirst, first, large, 0);
  ASSERT_TRUE(queue_->start_one());
  write(kFirst, first, data, 0);
  write(kSecond, second, data, large.size());
  queue_->abandon(kFirst);
  EXPECT_TRUE(queue_->is_used_by(kFirst));
  work();
  EXPECT_FALSE(queue_->is_used_by(kFirst));
  EXPECT_TRUE(queue_->is_used_by(kSecond));
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].owner, kSecond);
}

TEST_P(Files, ManyRequestsOfOneFileAllEnd) {
  const uint32_t file = open(kFirst);
  std::vector<std::string> data;
  for (int n = 0; n < 1000; ++n) data.emplace_back(static_cast<size_t>(n % 97 + 1), 'a' + n % 26);
  for (uint64_t n = 0; n < data.size(); ++n) write(kFirst, file, data[n], n * 100);
  work();
  const std::string all = content();
  for (size_t n = 0; n < data.size(); ++n) {
    EXPECT_EQ(ended(n).error, 0);
    EXPECT_EQ(all.substr(n * 100, data[n].size()), data[n]);
  }
  EXPECT_EQ(queue_->room(), Queue::kRequestsMax);
}

INSTANTIATE_TEST_SUITE_P(By, Files, testing::Values("uring", "blocking"));

}  // namespace
}  // namespace nagaya::files
