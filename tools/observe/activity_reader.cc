// SPDX-License-Identifier: BSD-3-Clause
#include "observe/activity_reader.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>

namespace nagaya::tools {

ActivityReader::ActivityReader(const std::string& socket_path, uint32_t what)
    : reading_(task::begin_reading(socket_path, what)) {
  struct stat about {};
  if (::fstat(reading_.file.get(), &about) != 0) base::throw_errno(socket_path);
  const auto bytes = static_cast<size_t>(about.st_size);
  void* const at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, reading_.file.get(), 0);
  if (at == MAP_FAILED) base::throw_errno(socket_path + ": cannot map what its tasks write");
  memory_ = base::Mapping(at, bytes);
  if (!activity().matches(bytes))
    throw base::Error(-EPROTO, socket_path + ": of another version of nagaya");
}

bool ActivityReader::has_ended() const {
  pollfd connection{reading_.connection.get(), POLLIN, 0};
  return ::poll(&connection, 1, 0) != 0;  // the host sends nothing more
}

const char* text_of(llcl::Purpose purpose) {
  static constexpr std::array<const char*, llcl::kPurposes> kTexts{
      "wait",           "message", "receive", "send",      "request",  "word",   "barrier",
      "bcast",          "gather",  "scatter", "allgather", "alltoall", "reduce", "allreduce",
      "reduce_scatter", "scan",    "exscan",  "window",    "lock",     "array",  "job"};
  const auto index = static_cast<size_t>(purpose);
  return index < kTexts.size() ? kTexts[index] : kTexts[0];
}

std::string text_of(llcl::OtherProcess process) {
  if (!process.is_known()) return "";
  return process.is_here() ? fmt::format("task {}", process.task())
                           : fmt::format("task {} of node {}", process.task(), process.node());
}

}  // namespace nagaya::tools
