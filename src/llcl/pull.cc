// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/pull.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace nagaya::llcl {
namespace {

// What is for a sink that is not one run comes in portions.
constexpr size_t kStagedBytes = 1 << 20;
// Up to this the way to offer a copy costs more than the copy.
constexpr size_t kTinyBytes = 40;

// Runs go by way of a portion that stays in the first cache.
void store_runs(const Sink& sink, const Buffer& from, size_t bytes) {
  std::byte portion[16 << 10];
  Place place(from.runs());
  while (bytes != 0) {
    const size_t next = std::min(bytes, sizeof portion);
    copy(Place(Buffer(portion, next, nullptr).runs()), place, next);
    sink.store(sink.context, portion, next);
    if (bytes -= next; bytes != 0) place.advance(next);
  }
}

}  // namespace

void Pulls::copy_here(const Sink& sink, const Buffer& from, size_t bytes, uint32_t peer) {
  if (sink.store != nullptr) {
    if (from.is_one_run()) return sink.store(sink.context, from.data(), bytes);
    return store_runs(sink, from, bytes);
  }
  const Buffer to(sink.buffer, sink.capacity, sink.runs);
  const bool is_one_run = to.is_one_run() && from.is_one_run();
  if (is_one_run && bytes <= kTinyBytes) {
    std::memmove(to.data(), from.data(), bytes);
    return;
  }
  const Layouts layouts{to.runs(), from.runs()};
  board_.copies->copy({to.data(), from.data(), bytes, peer, is_one_run ? nullptr : &layouts}, self_,
                      BoardTasks{board_});
}

bool Pull::start() {
  if (bytes_ == 0) return true;
  if (pulls_.is_here(from_)) {
    const auto* const runs =
        source_.is_in_runs != 0 ? static_cast<const nagaya_runs*>(source_.data) : nullptr;
    pulls_.copy_here(sink_, {source_.data, source_.bytes, runs}, bytes_, from_.task);
    return true;
  }
  if (sink_.store != nullptr || sink_.runs != nullptr)
    staged_ = std::make_unique<std::byte[]>(std::min(bytes_, kStagedBytes));
  return false;
}

// For the next portion; or later, when there is no room just now.
void Pull::ask() {
  size_t bytes = bytes_ - taken_bytes_;
  void* to = static_cast<std::byte*>(sink_.buffer) + taken_bytes_;
  if (staged_ != nullptr) {
    bytes = std::min(bytes, kStagedBytes);
    to = staged_.get();
  }
  done_.store(0, std::memory_order_relaxed);
  const int error = pulls_.elsewhere_.read(from_, source_.region, taken_bytes_, to, bytes, done_);
  if (error == -EAGAIN || error == -ENOBUFS) return;  // perhaps another thread has a lane
  asked_bytes_ = bytes;
  if (error != 0) done_.store(static_cast<uint32_t>(error), std::memory_order_relaxed);
}

// The portion that has come, over the runs of the sink.
void Pull::spread() {
  if (sink_.store != nullptr) return sink_.store(sink_.context, staged_.get(), asked_bytes_);
  Place to(sink_.runs);
  to.advance(taken_bytes_);
  copy(to, Place(Buffer(staged_.get(), asked_bytes_, nullptr).runs()), asked_bytes_);
}

bool Pull::advance() {
  if (asked_bytes_ == 0) ask();
  if (asked_bytes_ == 0 || !has_come()) return false;
  const auto status = static_cast<int32_t>(done_.load(std::memory_order_relaxed));
  if (status < 0) {
    error_ = status;
    return true;
  }
  if (staged_ != nullptr) spread();
  taken_bytes_ += std::exchange(asked_bytes_, 0);
  if (taken_bytes_ == bytes_) return true;
  ask();
  return false;
}

}  // namespace nagaya::llcl
