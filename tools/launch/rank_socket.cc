// SPDX-License-Identifier: BSD-3-Clause
#include "launch/rank_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace nagaya::tools {
namespace {

constexpr const char* kVariable = "NAGAYA_RUN";
constexpr uint32_t kMagic = 0x4e415243;
constexpr size_t kProgramsMax = 64;  // connected at once; more wait until these are answered
constexpr time_t kAnswerLimitS = 10;

struct Request {
  uint32_t magic;
  uint32_t rank;
};

task::SocketPlace existing_place(const std::string& path) {
  if (auto place = task::find_place(path)) return std::move(*place);
  throw base::Error(-ENOENT, path + ": no such folder");
}

// Room for one descriptor beside the bytes of a message.
struct Control {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))] = {};
};

void send_descriptor(int socket, int descriptor) {
  uint32_t magic = kMagic;
  iovec piece{&magic, sizeof magic};
  Control control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) base::throw_errno("sendmsg");
}

// Returns the descriptor that comes with the next message; a closed one if none does.
base::Fd receive_descriptor(int socket) {
  uint32_t magic = 0;
  iovec piece{&magic, sizeof magic};
  Control control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t bytes = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (bytes <= 0 || header == nullptr || header->cmsg_type != SCM_RIGHTS) return {};
  int descriptor;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return magic == kMagic ? base::Fd(descriptor) : base::Fd();
}

}  // namespace

RankSocket::RankSocket(EventLoop& loop, const std::string& path, Connect connect)
    : loop_(loop),
      connect_(std::move(connect)),
      place_(existing_place(path)),
      listener_(task::new_socket()) {
  task::listen_at(listener_, place_);
  loop_.watch(listener_.get(), [this] { accept_programs(); });
}

RankSocket::~RankSocket() {
  while (!programs_.empty()) drop(programs_.front().get());
  loop_.forget(listener_.get());
  task::remove_socket(place_);
}

std::string RankSocket::variable() const {
  return std::string(kVariable) + "=" + place_.path;
}

void RankSocket::accept_programs() try {
  base::Fd program(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!program && errno != EMFILE && errno != ENFILE) return;
  // The oldest one, which does not ask, makes way for another one.
  if ((!program || programs_.size() == kProgramsMax) && !programs_.empty())
    drop(programs_.front().get());
  else if (!program)
    loop_.forget(listener_.get());  // programs now keep the descriptor that they have inherited
  if (!program || !task::is_of_same_user(program)) return;
  const int fd = program.get();
  loop_.watch(fd, [this, fd] { answer(fd); });
  programs_.push_back(std::move(program));
} catch (const base::Error&) {
  return;  // the loop has no room for it
}

void RankSocket::answer(int program) {
  Request request{};
  if (::recv(program, &request, sizeof request, MSG_DONTWAIT) == sizeof request &&
      request.magic == kMagic) {
    try {
      send_descriptor(program, connect_(request.rank).get());
    } catch (const base::Error&) {
      // No such rank, or the program has gone: the end of the connection is the answer.
    }
  }
  drop(program);
}

void RankSocket::drop(int program) {
  loop_.forget(program);
  programs_.remove_if([&](const base::Fd& fd) { return fd.get() == program; });
}

void renew_pmi1_connection(uint32_t rank) {
  const char* const path = std::getenv(kVariable);
  const char* const number = std::getenv("PMI_FD");
  if (path == nullptr || number == nullptr) return;
  try {
    const base::Fd launcher = task::connect_to_host(existing_place(path));
    const Request request{kMagic, rank};
    const timeval limit{kAnswerLimitS, 0};
    if (!launcher || ::setsockopt(launcher.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
        ::send(launcher.get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request)
      return;
    const base::Fd connection = receive_descriptor(launcher.get());
    if (connection) ::dup2(connection.get(), std::atoi(number));
  } catch (const base::Error&) {
    // The launcher's folder has gone, or is not this user's.
  }
}

}  // namespace nagaya::tools
