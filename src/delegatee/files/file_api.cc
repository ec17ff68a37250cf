// SPDX-License-Identifier: BSD-3-Clause
// file_api.cc - the functions of nagaya/file.h.
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <mutex>

#include "base/catch_errors.h"
#include "delegatee/files/intake.h"
#include "delegatee/question.h"
#include "llcl/requests/endpoint.h"
#include "task/host/client.h"

using nagaya::base::catch_errors;
using nagaya::files::Command;
using nagaya::files::Intake;
using nagaya::files::Op;
using nagaya::llcl::Endpoint;
using nagaya::llcl::Purpose;

struct nagaya_file {
  uint32_t number, lane;
  Intake* intake;
  uint64_t limit;  // writes end there: of the task's files [bytes]
};

namespace {

namespace task = nagaya::task;
namespace delegatee = nagaya::delegatee;

// All threads of the task push to its lane under this lock.
task::SpinLock& lock_of_lane() {
  static task::SpinLock lock;
  return lock;
}

// Returns where writes to the file must end: at the task's limit, which the kernel would apply to
// the host's own limit only. [bytes]
uint64_t limit_of(int fd) {
  struct stat status {};
  rlimit limit{};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return RLIM_INFINITY;
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// Hands the descriptor to the host. Throws base::Error.
nagaya::files::Opened hand_over(const Endpoint& endpoint, int fd) {
  auto host = task::Client::join(task::job_of_own_space(endpoint.record()));
  delegatee::Question question;
  question.kind = delegatee::Question::Kind::kFile;
  question.self = endpoint.record().number;
  const auto opened =
      task::decode_plain<nagaya::files::Opened>(host.ask(delegatee::encode(question), {fd}));
  if (!opened.intake->matches())
    throw nagaya::base::Error(-EPROTO, "the host is of another version of Nagaya");
  return opened;
}

int push(const nagaya_file& file, const Command& wanted) {
  Command command = wanted;
  command.file = file.number;
  command.request->done = 0;
  command.request->bytes = 0;
  {
    const std::lock_guard lock(lock_of_lane());
    if (!file.intake->lanes->push(file.lane, command)) return -EAGAIN;
  }
  file.intake->bell.ring_after_fence();
  return 0;
}

int transfer(Op op, nagaya_file* file, const void* data, size_t bytes, int64_t offset,
             nagaya_file_request* request) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (file == nullptr || request == nullptr || (data == nullptr && bytes != 0) || offset < 0 ||
      bytes > INT64_MAX - static_cast<uint64_t>(offset))
    return -EINVAL;
  const auto first = static_cast<uint64_t>(offset);
  if (op == Op::kWrite && bytes != 0 && first + bytes > file->limit) return -EFBIG;
  auto* const memory = const_cast<std::byte*>(static_cast<const std::byte*>(data));
  return push(*file, {op, 0, first, memory, bytes, request});
}

}  // namespace

int nagaya_file_open(const char* path, int flags, mode_t mode, nagaya_file** out) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (path == nullptr || out == nullptr || (flags & O_APPEND) != 0) return -EINVAL;
  return catch_errors([&] {
    auto file = std::make_unique<nagaya_file>();
    const nagaya::base::Fd fd(::open(path, flags | O_CLOEXEC, mode));
    if (!fd || ::lseek(fd.get(), 0, SEEK_CUR) < 0) return -errno;
    file->limit = limit_of(fd.get());
    const nagaya::files::Opened opened = hand_over(*endpoint, fd.get());
    file->intake = opened.intake;
    file->number = opened.file;
    file->lane = opened.lane;
    *out = file.release();
    return 0;
  });
}

int nagaya_file_close(nagaya_file* file) {
  Endpoint* const endpoint = Endpoint::own();
  if (endpoint == nullptr) return -ESRCH;
  if (file == nullptr) return -EINVAL;
  nagaya_file_request closed;
  const Command command{Op::kClose, 0, 0, nullptr, 0, &closed};
  endpoint->wait(Purpose::kRequest, [&] { return push(*file, command) == 0; });
  endpoint->wait(Purpose::kRequest, [&] { return nagaya_file_test(&closed) != 0; });
  delete file;
  return 0;
}

int nagaya_file_write(nagaya_file* file, const void* data, size_t bytes, int64_t offset,
                      nagaya_file_request* request) {
  return transfer(Op::kWrite, file, data, bytes, offset, request);
}

int nagaya_file_read(nagaya_file* file, void* data, size_t bytes, int64_t offset,
                     nagaya_file_request* request) {
  return transfer(Op::kRead, file, data, bytes, offset, request);
}

int nagaya_file_sync(nagaya_file* file, nagaya_file_request* request) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (file == nullptr || request == nullptr) return -EINVAL;
  return push(*file, {Op::kSync, 0, 0, nullptr, 0, request});
}

int nagaya_file_wait(const nagaya_file_request* request, int timeout_ms) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (request == nullptr) return -EINVAL;
  return nagaya_llcl_wait_flag(&request->done, timeout_ms);
}

int nagaya_file_test(const nagaya_file_request* request) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (request == nullptr) return -EINVAL;
  // Acquire: pairs with the host's release.
  return static_cast<int>(__atomic_load_n(&request->done, __ATOMIC_ACQUIRE));
}
