// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/checkpoint_file.h"

#include <errno.h>

#include <algorithm>
#include <cstring>

namespace nagaya::checkpoint {
namespace {

constexpr char kMagic[8] = {'N', 'A', 'G', 'A', 'Y', 'A', 'C', 'P'};
constexpr uint32_t kVersion = 1;
constexpr mode_t kMode = 0666;

uint64_t padded(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::vector<std::byte> encode(uint32_t ranks, std::span<const Part> parts) {
  std::vector<std::byte> beginning(padded(sizeof(Header) + parts.size() * sizeof(Entry)));
  Header header{{}, kVersion, ranks, static_cast<uint32_t>(parts.size()), 0};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  std::memcpy(beginning.data(), &header, sizeof header);
  Entry entry{0, 0, beginning.size(), 0};
  for (size_t n = 0; n < parts.size(); ++n) {
    entry.rank = parts[n].rank;
    entry.bytes = parts[n].bytes;
    std::memcpy(&beginning[sizeof header + n * sizeof entry], &entry, sizeof entry);
    entry.offset += padded(entry.bytes);
  }
  return beginning;
}

Entry entry_of(std::span<const std::byte> beginning, uint32_t rank) {
  Entry entry{};
  for (size_t at = sizeof(Header); at + sizeof entry <= beginning.size(); at += sizeof entry) {
    std::memcpy(&entry, &beginning[at], sizeof entry);
    if (entry.rank == rank && entry.offset != 0) return entry;
  }
  return {};
}

void CheckpointFile::open(const std::string& path, int flags) {
  fail(nagaya_file_open(path.c_str(), flags, kMode, &file_));
}

// Makes a request by make(request). If the host has no room for it, waits for an earlier one.
template <class Make>
void CheckpointFile::make(uint64_t bytes, Make make) {
  if (error_ != 0) return;
  pending_.push_back({{}, bytes});
  int error;
  while ((error = make(&pending_.back().request)) == -EAGAIN && pending_.size() > 1) finish_first();
  if (error == 0) return;
  pending_.pop_back();
  fail(error);
}

void CheckpointFile::write(const void* data, size_t bytes, uint64_t offset) {
  make(bytes, [&](nagaya_file_request* request) {
    return nagaya_file_write(file_, data, bytes, static_cast<int64_t>(offset), request);
  });
}

void CheckpointFile::read(void* data, size_t bytes, uint64_t offset) {
  make(bytes, [&](nagaya_file_request* request) {
    return nagaya_file_read(file_, data, bytes, static_cast<int64_t>(offset), request);
  });
}

void CheckpointFile::sync() {
  make(0, [&](nagaya_file_request* request) { return nagaya_file_sync(file_, request); });
}

// A read that meets the end of the file has not found a whole checkpoint.
void CheckpointFile::finish_first() {
  const Pending& first = pending_.front();
  const int error = nagaya_file_wait(&first.request, -1);
  fail(error != 0 || first.request.bytes == first.bytes ? error : -EINVAL);
  pending_.pop_front();
}

void CheckpointFile::finish() {
  while (!pending_.empty()) finish_first();
}

void CheckpointFile::close() {
  finish();
  if (file_ != nullptr) nagaya_file_close(file_);
  file_ = nullptr;
}

}  // namespace nagaya::checkpoint
