// SPDX-License-Identifier: BSD-3-Clause
#include "observe/trace_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/printable.h"

namespace nagaya::tools {
namespace {

constexpr double kMessageUs = 0.001;  // the length of a slice that only carries an arrow

std::string quoted(const std::string& text) {
  return nlohmann::json(base::printable(text)).dump();
}

// Returns the member of "args" for a process, with a comma before it; "" if it is not known.
std::string member(const char* name, const std::string& process) {
  return process.empty() ? "" : fmt::format(",\"{}\":\"{}\"", name, process);
}

}  // namespace

TraceFile::TraceFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "we")) {
  if (file_ == nullptr) base::throw_errno(path);
  std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", file_.get());
}

TraceFile::~TraceFile() {
  struct stat about {};
  const bool is_left = file_ != nullptr && ::fstat(::fileno(file_.get()), &about) == 0;
  if (is_left && S_ISREG(about.st_mode)) ::unlink(path_.c_str());
}

template <class... Arguments>
void TraceFile::print(const char* format, const Arguments&... arguments) {
  fmt::memory_buffer text;
  fmt::vformat_to(fmt::appender(text), format, fmt::make_format_args(arguments...));
  std::fwrite(text.data(), 1, text.size(), file_.get());
}

void TraceFile::name_process(int process, const std::string& name) {
  print(
      "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"tid\":0,\"args\":{{\"name\":{}}}}},\n",
      process, quoted(name));
}

void TraceFile::name_thread(Track track, const std::string& name, uint32_t order) {
  print(
      "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}},\n",
      track.process, track.thread, quoted(name));
  print(
      "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{},\"tid\":{},\"args\":{{\"sort_"
      "index\":{}}}}},\n",
      track.process, track.thread, order);
}

void TraceFile::add_wait(Track track, const char* name, const std::string& whom, double begin_us,
                         double length_us, bool is_over) {
  print(
      "{{\"ph\":\"X\",\"cat\":\"wait\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":"
      "{:.3f},"
      "\"args\":{{\"over\":{}{}}}}},\n",
      name, track.process, track.thread, begin_us, length_us, is_over, member("for", whom));
  ++events_;
}

void TraceFile::add_message(Track track, const MessageEnd& end, double at_us) {
  print(
      "{{\"ph\":\"X\",\"cat\":\"message\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},"
      "\"dur\":{:.3f},"
      "\"args\":{{\"bytes\":{},\"tag\":{}{}}}}},\n",
      end.is_sent ? "sent" : "received", track.process, track.thread, at_us, kMessageUs, end.bytes,
      end.tag, member(end.is_sent ? "to" : "from", end.other));
  print(
      "{{\"ph\":\"{}\",\"cat\":\"message\",\"name\":\"message\",\"id\":\"{:#x}\",\"pid\":{},"
      "\"tid\":{},"
      "\"ts\":{:.3f}{}}},\n",
      end.is_sent ? "s" : "f", end.identity, track.process, track.thread, at_us,
      end.is_sent ? "" : ",\"bp\":\"e\"");
  ++events_;
}

void TraceFile::add_end(Track track, double at_us) {
  print(
      "{{\"ph\":\"i\",\"cat\":\"task\",\"name\":\"ended\",\"s\":\"t\",\"pid\":{},\"tid\":{},\"ts\":"
      "{:.3f}}},\n",
      track.process, track.thread, at_us);
}

void TraceFile::add_loss(Track track, uint64_t events, double at_us) {
  print(
      "{{\"ph\":\"i\",\"cat\":\"task\",\"name\":\"lost "
      "events\",\"s\":\"t\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},"
      "\"args\":{{\"events\":{}}}}},\n",
      track.process, track.thread, at_us, events);
}

// The last event is one that every viewer ignores: it has no comma behind it.
void TraceFile::close(uint64_t lost_events) {
  print(
      "{{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"tid\":0,\"args\":{{\"labels\":\"\"}}}"
      "}\n],\n"
      "\"otherData\":{{\"made_by\":\"nagaya trace\",\"events\":{},\"lost_events\":{}}}}}\n",
      events_, lost_events);
  const bool is_written = std::ferror(file_.get()) == 0;
  if (std::fclose(file_.release()) != 0 || !is_written) base::throw_errno(path_);
}

}  // namespace nagaya::tools
