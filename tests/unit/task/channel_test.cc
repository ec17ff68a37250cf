// SPDX-License-Identifier: BSD-3-Clause
// Frames and descriptors between two ends of a connection.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <thread>

#include "task/error_code.h"
#include "task/host/wire.h"

namespace nagaya::task {
namespace {

// The frame as wire.h describes it, written by hand to send wrong ones.
struct RawFrame {
  uint32_t magic = 0x4e414746;
  uint32_t type = static_cast<uint32_t>(MessageType::kSignal);
  uint32_t payload_bytes = 0;
  uint32_t descriptors = 0;
};

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    near_.emplace(base::Fd(ends[0]));
    far_.emplace(base::Fd(ends[1]));
  }
  void write_raw(const std::string& bytes) {
    ASSERT_EQ(::send(near_->fd(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  int receive_code() {
    return code_of([this] { far_->receive(); });
  }

  std::optional<Channel> near_, far_;
};

TEST_F(ChannelTest, DeliversMessagesInOrder) {
  near_->send(MessageType::kHello, "first");
  near_->send(MessageType::kLaunch, "");
  near_->send(MessageType::kWaited, "third");
  auto message = far_->receive();
  EXPECT_EQ(message->type, MessageType::kHello);
  EXPECT_EQ(message->payload, "first");
  message = far_->receive();
  EXPECT_EQ(message->type, MessageType::kLaunch);
  EXPECT_EQ(message->payload, "");
  EXPECT_EQ(far_->receive()->payload, "third");
}

TEST_F(ChannelTest, TakesAMessageThatWasReadTogetherWithAnother) {
  near_->send(MessageType::kHello, "first");
  near_->send(MessageType::kSignal, "second");
  ASSERT_TRUE(far_->receive());
  const auto second = far_->take_message();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->payload, "second");
  EXPECT_FALSE(far_->take_message());
}

TEST_F(ChannelTest, AssemblesAMessageThatArrivesByteByByte) {
  RawFrame frame;
  frame.payload_bytes = 3;
  const std::string bytes = encode_plain(frame) + "abc";
  ::fcntl(far_->fd(), F_SETFL, O_NONBLOCK);
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(far_->receive()) << "after " << n << " bytes";
    write_raw(bytes.substr(n, 1));
  }
  const auto message = far_->receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->payload, "abc");
}

TEST_F(ChannelTest, CarriesALongPayload) {
  std::string payload(3 << 20, 'x');
  for (size_t n = 0; n < payload.size(); n += 1000) payload[n] = static_cast<char>(n / 1000);
  std::thread sender([&] { near_->send(MessageType::kLaunch, payload); });
  EXPECT_EQ(far_->receive()->payload, payload);
  sender.join();
}

// Files that are told apart by their inode.
std::vector<base::Fd> different_files(size_t count) {
  std::vector<base::Fd> files;
  for (size_t n = 0; n < count; ++n)
    files.push_back(base::checked_fd(::memfd_create("n", MFD_CLOEXEC), "memfd"));
  return files;
}

ino_t inode(int fd) {
  struct stat about;
  EXPECT_EQ(::fstat(fd, &about), 0);
  return about.st_ino;
}

class DescriptorsTest : public ChannelTest, public testing::WithParamInterface<size_t> {};

TEST_P(DescriptorsTest, ArriveInOrderAndCloseOnExec) {
  rlimit limit;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 2 * GetParam() + 50) GTEST_SKIP() << "RLIMIT_NOFILE is too low";
  const std::vector<base::Fd> files = different_files(GetParam());
  std::vector<int> numbers;
  for (const base::Fd& file : files) numbers.push_back(file.get());
  // As in a Launch: four bytes of payload per descriptor.
  const std::string payload(4 * files.size(), 'p');
  std::thread sender([&] { near_->send(MessageType::kLaunch, payload, numbers); });
  const auto message = far_->receive();
  sender.join();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->payload, payload);
  ASSERT_EQ(message->descriptors.size(), files.size());
  for (size_t n = 0; n < files.size(); ++n) {
    EXPECT_EQ(inode(message->descriptors[n].get()), inode(numbers[n])) << n;
    EXPECT_EQ(::fcntl(message->descriptors[n].get(), F_GETFD), FD_CLOEXEC);
  }
}

INSTANTIATE_TEST_SUITE_P(UpToSeveralPieces, DescriptorsTest,
                         testing::Values(1, 252, 253, 254, 506, 507, 1000));

TEST_F(ChannelTest, KeepsDescriptorsOfSeveralMessagesApart) {
  const auto files = different_files(3);
  near_->send(MessageType::kLaunch, "12345678", {files[0].get(), files[1].get()});
  near_->send(MessageType::kSignal, "none");
  near_->send(MessageType::kLaunch, "1234", {files[2].get()});
  auto message = far_->receive();
  ASSERT_EQ(message->descriptors.size(), 2u);
  EXPECT_EQ(inode(message->descriptors[1].get()), inode(files[1].get()));
  EXPECT_TRUE(far_->receive()->descriptors.empty());
  message = far_->receive();
  ASSERT_EQ(message->descriptors.size(), 1u);
  EXPECT_EQ(inode(message->descriptors[0].get()), inode(files[2].get()));
}

TEST_F(ChannelTest, ReportsTheEndOfTheOtherEnd) {
  near_.reset();
  EXPECT_EQ(receive_code(), -EPIPE);
  EXPECT_EQ(code_of([&] { far_->send(MessageType::kSignal, "x"); }), -EPIPE);
}

TEST_F(ChannelTest, ReportsAnEndInTheMiddleOfAMessage) {
  RawFrame frame;
  frame.payload_bytes = 100;
  write_raw(encode_plain(frame) + "abc");
  near_.reset();
  EXPECT_EQ(receive_code(), -EPIPE);
}

TEST_F(ChannelTest, EndsWithAForeignMagic) {
  RawFrame frame;
  frame.magic = 0x20544547;  // "GET "
  write_raw(encode_plain(frame));
  EXPECT_EQ(receive_code(), -EPROTO);
}

TEST_F(ChannelTest, EndsWithAnUnknownType) {
  for (uint32_t type : {static_cast<uint32_t>(kLastMessageType) + 1, 1000u, 0xffffffffu}) {
    RawFrame frame;
    frame.type = type;
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    const base::Fd writer(ends[0]);
    Channel reader((base::Fd(ends[1])));
    ASSERT_EQ(::send(writer.get(), &frame, sizeof frame, 0), static_cast<ssize_t>(sizeof frame));
    EXPECT_EQ(code_of([&] { reader.receive(); }), -EPROTO) << type;
  }
}

TEST_F(ChannelTest, EndsWithAnUnreasonableLength) {
  RawFrame frame;
  frame.payload_bytes = 0xffffffff;
  write_raw(encode_plain(frame));
  EXPECT_EQ(receive_code(), -EPROTO);
}

TEST_F(ChannelTest, EndsWhenAnnouncedDescriptorsAreMissing) {
  RawFrame frame;
  frame.descriptors = 1;
  write_raw(encode_plain(frame));
  EXPECT_EQ(receive_code(), -EPROTO);
}

TEST_F(ChannelTest, EndsWithAnUnreasonableNumberOfDescriptors) {
  RawFrame frame;
  frame.descriptors = 0xffffffff;
  write_raw(encode_plain(frame));
  EXPECT_EQ(receive_code(), -EPROTO);
}

TEST_F(ChannelTest, DoesNotBlockOnAPeerThatDoesNotRead) {
  ::fcntl(near_->fd(), F_SETFL, O_NONBLOCK);
  const std::string payload(16 << 10, 'x');
  int code = 0;
  for (int n = 0; n < 10000 && code == 0; ++n)
    code = code_of([&] { near_->send(MessageType::kLaunch, payload); });
  EXPECT_EQ(code, -ENOBUFS);
}

TEST_F(ChannelTest, KeepsWhatThePeerHasNoRoomForAndSendsItLater) {
  ::fcntl(near_->fd(), F_SETFL, O_NONBLOCK);
  ::fcntl(far_->fd(), F_SETFL, O_NONBLOCK);
  const std::string payload(16 << 10, 'x');
  int sent = 0;
  while (near_->flush()) {
    near_->send(MessageType::kLaunch, std::to_string(sent++) + payload);
    ASSERT_LT(sent, 10000);
  }
  near_->send(MessageType::kSignal, std::to_string(sent++) + payload);  // behind the kept one
  int received = 0;
  for (int idle = 0; received < sent && idle < 100; ++idle) {
    while (const auto message = far_->receive())
      ASSERT_EQ(message->payload, std::to_string(received++) + payload);
    near_->flush();
  }
  EXPECT_EQ(received, sent);
  EXPECT_TRUE(near_->flush());
}

TEST_F(ChannelTest, ClosesDescriptorsThatNobodyTook) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_NONBLOCK), 0);
  const base::Fd reader(pipe_ends[0]);
  {
    const base::Fd writer(pipe_ends[1]);
    near_->send(MessageType::kLaunch, "1234", {writer.get()});
  }
  far_->receive();  // the message ends here, with its descriptor
  char byte;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0) << "the write end is still open";
}

}  // namespace
}  // namespace nagaya::task
