// SPDX-License-Identifier: BSD-3-Clause
#include "task/host/wire.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>

namespace nagaya::task {
namespace {

using base::Error;

constexpr uint32_t kPayloadMaxBytes = 16 << 20;
constexpr size_t kUnsentMaxBytes = 1 << 20;
constexpr uint32_t kDescriptorsMax = 65536;
constexpr int64_t kErrnoMax = 4095;
// Least bytes of a TaskStatus: six numbers of 32 bits, four of 64, and the lengths of three
// empty texts, of 64.
constexpr uint64_t kTaskStatusMinBytes = 6 * sizeof(uint32_t) + 7 * sizeof(uint64_t);
// Least bytes of a Departure: a number of 32 bits, two empty texts.
constexpr uint64_t kDepartureMinBytes = sizeof(uint32_t) + 2 * sizeof(uint64_t);
// Least bytes of a RequestCount: an empty text, a number.
constexpr uint64_t kRequestCountMinBytes = 2 * sizeof(uint64_t);
constexpr size_t kDescriptorsPerPiece = 253;  // SCM_MAX_FD

[[noreturn]] void malformed(const char* what) {
  throw Error(-EPROTO, std::string("malformed message: ") + what);
}

class Writer {
 public:
  void number(uint64_t value) { plain(value); }
  void text(const std::string& text) {
    number(text.size());
    out_ += text;
  }
  void texts(const std::vector<std::string>& all) {
    number(all.size());
    for (const std::string& one : all) text(one);
  }
  template <class Plain>
  void plain(const Plain& value) {
    out_ += encode_plain(value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(const std::string& in) : in_(in) {}

  template <class Plain>
  Plain plain() {
    return decode_plain<Plain>(piece(sizeof(Plain)));
  }
  uint64_t number() { return plain<uint64_t>(); }
  uint64_t count(uint64_t least_bytes_each) {
    const uint64_t count = number();
    if (count > (in_.size() - at_) / least_bytes_each) malformed("a count exceeds its message");
    return count;
  }
  std::string text() {
    std::string text = piece(number());
    if (text.find('\0') != std::string::npos) malformed("a string holds a NUL");
    return text;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> all(count(sizeof(uint64_t)));
    for (std::string& one : all) one = text();
    return all;
  }
  void end() const {
    if (at_ != in_.size()) malformed("bytes after its end");
  }

 private:
  std::string piece(uint64_t bytes) {
    if (bytes > in_.size() - at_) malformed("it is too short");
    at_ += bytes;
    return in_.substr(at_ - bytes, bytes);
  }

  const std::string& in_;
  size_t at_ = 0;
};

void write(const Departure& departure, Writer& out) {
  out.plain(departure.rank);
  out.text(departure.program);
  out.text(departure.reason);
}

Departure read_departure(Reader& in) {
  Departure departure;
  departure.rank = in.plain<int32_t>();
  departure.program = in.text();
  departure.reason = in.text();
  return departure;
}

}  // namespace

std::string encode(const Launch& launch) {
  Writer out;
  out.text(launch.text.program);
  out.text(launch.text.name);
  out.text(launch.text.process_name);
  out.texts(launch.text.arguments);
  out.texts(launch.text.environment);
  out.plain(launch.inherit);
  out.plain(launch.wanted_number);
  out.plain(launch.stands_for);
  out.plain(launch.rank_descriptor);
  out.number(launch.descriptor_numbers.size());
  for (int32_t number : launch.descriptor_numbers) out.plain(number);
  return out.take();
}

Launch decode_launch(const std::string& payload) {
  Reader in(payload);
  Launch launch;
  launch.text.program = in.text();
  launch.text.name = in.text();
  launch.text.process_name = in.text();
  launch.text.arguments = in.texts();
  launch.text.environment = in.texts();
  launch.inherit = in.plain<Inheritance>();
  launch.wanted_number = in.plain<int64_t>();
  launch.stands_for = in.plain<int64_t>();
  launch.rank_descriptor = in.plain<int32_t>();
  launch.descriptor_numbers.resize(in.count(sizeof(int32_t)));
  for (int32_t& number : launch.descriptor_numbers) number = in.plain<int32_t>();
  in.end();
  if (launch.inherit.cpu_mask_bytes > sizeof launch.inherit.cpu_mask) malformed("processor mask");
  if (launch.stands_for < -1 || launch.stands_for >= kTasksMax) malformed("no rank");
  const auto& numbers = launch.descriptor_numbers;
  if (std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) != numbers.end() ||
      (!numbers.empty() && numbers.front() < 0))
    malformed("descriptor numbers are not ascending");
  return launch;
}

std::string encode(const JobStatus& status) {
  Writer out;
  out.plain(Stamp{kMagic, kAbiMajor, kAbiMinor, sizeof(JobStatus), 0});
  out.plain(status.host_pid);
  out.plain(status.launcher_pid);
  out.plain(status.expected_tasks);
  out.plain(status.capacity);
  out.number(status.refused_messages);
  out.number(status.requests.size());
  for (const RequestCount& request : status.requests) {
    out.text(request.kind);
    out.number(request.count);
  }
  out.number(status.departures.size());
  for (const Departure& departure : status.departures) write(departure, out);
  out.number(status.tasks.size());
  for (const TaskStatus& task : status.tasks) {
    out.plain(task.number);
    out.plain(task.state);
    out.plain(task.pid);
    out.plain(task.wait_status);
    for (uint64_t value : {task.home, task.range, task.home_bytes, task.range_bytes})
      out.number(value);
    out.plain(task.escaped);
    out.plain(task.stands_for);
    out.text(task.program);
    out.text(task.command);
    out.text(task.group);
  }
  return out.take();
}

JobStatus decode_status(const std::string& payload) {
  Reader in(payload);
  JobStatus status;
  if (!in.plain<Stamp>().matches(sizeof(JobStatus))) malformed("of another version of nagaya");
  status.host_pid = in.plain<int32_t>();
  status.launcher_pid = in.plain<int32_t>();
  status.expected_tasks = in.plain<uint32_t>();
  status.capacity = in.plain<uint32_t>();
  status.refused_messages = in.number();
  status.requests.resize(in.count(kRequestCountMinBytes));
  for (RequestCount& request : status.requests) {
    request.kind = in.text();
    request.count = in.number();
  }
  status.departures.resize(in.count(kDepartureMinBytes));
  for (Departure& departure : status.departures) departure = read_departure(in);
  status.tasks.resize(in.count(kTaskStatusMinBytes));
  for (TaskStatus& task : status.tasks) {
    task.number = in.plain<uint32_t>();
    task.state = in.plain<TaskState>();
    if (task.state > TaskState::kEnded) malformed("a task is in no known state");
    task.pid = in.plain<int32_t>();
    task.wait_status = in.plain<int32_t>();
    for (uint64_t* value : {&task.home, &task.range, &task.home_bytes, &task.range_bytes})
      *value = in.number();
    task.escaped = in.plain<uint32_t>();
    task.stands_for = in.plain<int32_t>();
    task.program = in.text();
    task.command = in.text();
    task.group = in.text();
  }
  in.end();
  return status;
}

std::string encode(const Departure& departure) {
  Writer out;
  write(departure, out);
  return out.take();
}

Departure decode_departure(const std::string& payload) {
  Reader in(payload);
  Departure departure = read_departure(in);
  in.end();
  return departure;
}

std::string encode_refusal(const Error& error) {
  Writer out;
  out.number(static_cast<uint64_t>(error.code()));
  out.text(error.what());
  return out.take();
}

Error decode_refusal(const std::string& payload) {
  Reader in(payload);
  const auto code = static_cast<int64_t>(in.number());
  if (code >= 0 || code < -kErrnoMax) malformed("a refusal without an error");
  const std::string text = in.text();
  in.end();
  return {static_cast<int>(code), text};
}

std::string encode(const End& end) {
  return encode_plain<Ended>(end) + (end.reason ? encode_refusal(*end.reason) : "");
}

End decode_end(const std::string& payload) {
  constexpr size_t kBytes = sizeof(Ended);
  End end{decode_plain<Ended>(payload.substr(0, kBytes)), {}};
  if (payload.size() > kBytes) end.reason = decode_refusal(payload.substr(kBytes));
  return end;
}

void Channel::send(MessageType type, const std::string& payload,
                   const std::vector<int>& descriptors) {
  const Frame frame{kFrameMagic, type, static_cast<uint32_t>(payload.size()),
                    static_cast<uint32_t>(descriptors.size())};
  if (payload.size() > kPayloadMaxBytes)
    throw Error(-E2BIG, "arguments and environment are too long");
  const std::string data = encode_plain(frame) + payload;
  if (descriptors.empty()) return send_or_keep(data);
  if (!flush()) throw Error(-ENOBUFS, "the other end has not read an earlier message");
  size_t sent = 0, sent_descriptors = 0;
  while (sent < data.size()) {
    const size_t batch = std::min(descriptors.size() - sent_descriptors, kDescriptorsPerPiece);
    const bool last = sent_descriptors + batch == descriptors.size();
    // More descriptors to come: one byte carries this batch.
    iovec piece{const_cast<char*>(data.data()) + sent, last ? data.size() - sent : 1};
    alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsPerPiece * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (batch > 0) {
      message.msg_control = control;
      message.msg_controllen = CMSG_SPACE(batch * sizeof(int));
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(batch * sizeof(int));
      std::memcpy(CMSG_DATA(header), descriptors.data() + sent_descriptors, batch * sizeof(int));
    }
    const ssize_t done = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) base::throw_errno("cannot send to the other end");
    sent += static_cast<size_t>(done);
    sent_descriptors += batch;
  }
}

// Sends `data`; keeps the part for which the socket has no room. Allocates before it sends, so that
// nothing has been sent when memory is lacking.
void Channel::send_or_keep(const std::string& data) {
  const bool has_waited = !unsent_.empty();
  if (!has_waited || unsent_.size() + data.size() <= kUnsentMaxBytes) {
    unsent_ += data;
    if (flush() || unsent_.size() <= kUnsentMaxBytes) return;
  }
  throw Error(-ENOBUFS, std::to_string(unsent_.size()) +
                            " bytes wait for the other end, which does not read them");
}

bool Channel::flush() {
  while (!unsent_.empty()) {
    const ssize_t done = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && (errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS)) return false;
    if (done < 0) base::throw_errno("cannot send to the other end");
    unsent_.erase(0, static_cast<size_t>(done));
  }
  return true;
}

std::optional<Message> Channel::take_message() {
  Frame frame;
  if (bytes_.size() < sizeof frame) return std::nullopt;
  std::memcpy(&frame, bytes_.data(), sizeof frame);
  if (frame.magic != kFrameMagic || frame.payload_bytes > kPayloadMaxBytes ||
      frame.descriptors > kDescriptorsMax || frame.type > kLastMessageType)
    malformed("no frame of ours");
  if (bytes_.size() < sizeof frame + frame.payload_bytes) return std::nullopt;
  if (descriptors_.size() < frame.descriptors) malformed("descriptors are missing");
  Message message{frame.type, bytes_.substr(sizeof frame, frame.payload_bytes), {}};
  bytes_.erase(0, sizeof frame + frame.payload_bytes);
  for (uint32_t n = 0; n < frame.descriptors; ++n) {
    message.descriptors.push_back(std::move(descriptors_.front()));
    descriptors_.pop_front();
  }
  if (bytes_.empty()) descriptors_.clear();  // drops descriptors that no frame announced
  return message;
}

void Channel::limit_wait(int seconds) {
  const timeval limit{seconds, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
}

std::optional<Message> Channel::receive() {
  for (;;) {
    if (auto message = take_message()) return message;
    char data[16384];  // a quarter of the smallest stack that a user may have set
    alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsPerPiece * sizeof(int))];
    iovec piece{data, sizeof data};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    const ssize_t got = ::recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return std::nullopt;
    if (got < 0 && errno != ECONNRESET) base::throw_errno("cannot receive");
    for (cmsghdr* c = got < 0 ? nullptr : CMSG_FIRSTHDR(&header); c != nullptr;
         c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      std::vector<int> fds((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
      std::memcpy(fds.data(), CMSG_DATA(c), fds.size() * sizeof(int));
      for (int fd : fds) descriptors_.emplace_back(fd);
    }
    if (got <= 0) throw Error(-EPIPE, "the other end is gone");
    if ((header.msg_flags & MSG_CTRUNC) != 0)
      throw Error(-EMFILE,
                  "too many open descriptors to receive more (RLIMIT_NOFILE): raise the hard "
                  "limit, or close what the program does not need");
    bytes_.append(data, static_cast<size_t>(got));
  }
}

}  // namespace nagaya::task
