// SPDX-License-Identifier: BSD-3-Clause
// matcher_reads.cc - long messages of other nodes: read from where they lie.
#include <errno.h>

#include <utility>

#include "match/finish.h"
#include "match/matcher.h"

namespace nagaya::match {
namespace {

// What is for a buffer that is not one run comes in portions.
constexpr size_t kStagedBytes = 1 << 20;

}  // namespace

void Matcher::read(const Cell& cell, nagaya_receive& receive) {
  std::list<Reading> one;
  try {
    one.emplace_back(cell, receive);
    const size_t bytes = one.front().bytes;
    if (bytes != 0 && (receive.scatter != nullptr || receive.runs != nullptr))
      one.front().staged = std::make_unique<std::byte[]>(std::min(bytes, kStagedBytes));
  } catch (const std::bad_alloc&) {
    receive.error = -ENOMEM;
    return end(cell, receive);
  }
  Reading& reading = one.front();
  if (reading.bytes == 0) return end(cell, receive);
  const Turn turn(*this);
  reads_.splice(reads_.end(), one);
  ask_for_portion(reading);
}

// Or later, when there is no room just now.
void Matcher::ask_for_portion(Reading& reading) {
  const auto& there = reading.cell.rendezvous;
  size_t bytes = reading.bytes - reading.taken_bytes;
  void* to = static_cast<std::byte*>(reading.receive.buffer) + reading.taken_bytes;
  if (reading.staged != nullptr) {
    bytes = std::min(bytes, kStagedBytes);
    to = reading.staged.get();
  }
  reading.done.store(0, std::memory_order_relaxed);
  const int error =
      remote_.read(there.sender, there.region, reading.taken_bytes, to, bytes, reading.done);
  if (error == -EAGAIN || error == -ENOBUFS) return;  // perhaps another thread has a lane
  reading.asked_bytes = bytes;
  if (error != 0) reading.done.store(static_cast<uint32_t>(error), std::memory_order_relaxed);
}

void Matcher::spread(Reading& reading) {
  nagaya_receive& receive = reading.receive;
  std::byte* const portion = reading.staged.get();
  if (receive.scatter != nullptr) return receive.scatter(&receive, portion, reading.asked_bytes);
  Place to(receive.runs);
  to.advance(reading.taken_bytes);
  copy(to, Place(Buffer(portion, reading.asked_bytes, nullptr).runs()), reading.asked_bytes);
}

bool Matcher::take_portion(Reading& reading) {
  const auto status = static_cast<int32_t>(reading.done.load(std::memory_order_relaxed));
  if (status < 0) {
    reading.receive.error = status;
    return true;
  }
  if (reading.staged != nullptr) spread(reading);
  reading.taken_bytes += std::exchange(reading.asked_bytes, 0);
  return reading.taken_bytes == reading.bytes;
}

// Nothing of the message is read any more.
void Matcher::end(const Cell& cell, nagaya_receive& receive) {
  {
    const Turn turn(*this);
    answer(cell, CellKind::kCopied);
  }
  finish(receive);
}

// How many portions have come.
int Matcher::progress_reads() {
  std::list<Reading> come;
  {
    const Turn turn(*this);
    for (auto at = reads_.begin(); at != reads_.end();) {
      const auto one = at++;
      if (one->asked_bytes == 0) ask_for_portion(*one);
      // Acquire: pairs with the delegatee, the data is there.
      if (one->done.load(std::memory_order_acquire) != 0) come.splice(come.end(), reads_, one);
    }
  }
  const auto count = static_cast<int>(come.size());
  for (; !come.empty();) {
    if (take_portion(come.front())) {
      end(come.front().cell, come.front().receive);
      come.pop_front();
      continue;
    }
    const Turn turn(*this);
    ask_for_portion(come.front());
    reads_.splice(reads_.end(), come, come.begin());
  }
  return count;
}

}  // namespace nagaya::match
