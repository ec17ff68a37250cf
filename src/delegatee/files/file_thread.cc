// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/files/file_thread.h"

#include <sys/prctl.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace nagaya::files {
namespace {

std::unique_ptr<Engine> open_engine() {
  std::unique_ptr<Engine> engine = open_uring_engine();
  return engine != nullptr ? std::move(engine) : open_blocking_engine();
}

}  // namespace

FileThread::FileThread(llcl::Board& board)
    : board_(board),
      memory_(base::reserve_undumped_memory(Intake::bytes_for(board.capacity),
                                            "cannot reserve the queues for files")),
      intake_(Intake::create(memory_.data(), board.capacity)),
      holds_(board.capacity),
      claimed_(board.capacity),
      engine_(open_engine()),
      queue_(*engine_, [this](mailbox::Owner owner, const Command& command, int error,
                              uint64_t bytes) { complete(owner, command, error, bytes); }) {
  dying_.reserve(board.capacity);
  thread_ = std::thread([this] { run(); });
}

FileThread::~FileThread() {
  {
    const std::lock_guard lock(lock_);
    news_.is_to_stop = true;
  }
  has_news_.store(true, std::memory_order_release);  // pairs with take_news
  intake_.bell.ring();
  thread_.join();
}

// Returns the owner's lane, which its first opening claims.
uint32_t FileThread::lane_of(mailbox::Owner owner) {
  Claimed& claimed = claimed_[owner.number()];
  if (claimed.owner == owner) return claimed.lane;
  const uint32_t lane = intake_.lanes->claim(owner);
  if (lane == Lanes::kNoLane)
    throw base::Error(-ENOBUFS, "the host has no queue for the files of one more task");
  claimed = {owner, lane};
  return lane;
}

Opened FileThread::open(base::Fd file, mailbox::Owner owner) {
  const uint32_t lane = lane_of(owner);
  Handles handle;
  OpenFiles files;
  files.emplace_back().fd = std::move(file);
  handle.try_emplace(++opened_, Handle{owner});
  {
    const std::lock_guard lock(lock_);
    news_.handles.merge(handle);
    news_.files.splice(news_.files.end(), files);
  }
  has_news_.store(true, std::memory_order_release);  // pairs with take_news
  intake_.bell.ring();
  return {&intake_, opened_, lane};
}

void FileThread::abandon(mailbox::Owner dead) {
  {
    const std::lock_guard lock(lock_);
    news_.dead.push_back(dead);
  }
  claimed_[dead.number()] = {};
  holds_[dead.number()].store(true, std::memory_order_relaxed);
  has_news_.store(true, std::memory_order_release);  // pairs with take_news
  intake_.bell.ring();
}

// ---- the thread ---------------------------------------------------------------------------------

void FileThread::run() {
  ::prctl(PR_SET_NAME, "nagaya-files");
  intake_.bell.own();
  while (!is_to_stop_ || queue_.transfers() != 0)
    if (!work()) sleep();
}

// Does something. Returns false if there is nothing to do.
bool FileThread::work() {
  bool has_worked = take_news();
  if (!is_to_stop_) has_worked |= drain() != 0;
  if (!is_to_stop_) has_worked |= queue_.start_one();
  while (queue_.finish_one()) has_worked = true;
  std::erase_if(dying_, [&](mailbox::Owner dead) {
    if (queue_.is_used_by(dead)) return false;
    holds_[dead.number()].store(false, std::memory_order_release);  // pairs with holds
    return true;
  });
  return has_worked;
}

// Acquire: pairs with the releases of the host's thread.
bool FileThread::take_news() {
  if (!has_news_.load(std::memory_order_relaxed)) return false;
  has_news_.exchange(false, std::memory_order_acquire);
  News news;
  {
    const std::lock_guard lock(lock_);
    std::swap(news, news_);
    news_.is_to_stop = news.is_to_stop;
  }
  while (!news.handles.empty()) {
    Handles handle;
    OpenFiles file;
    handle.insert(news.handles.extract(news.handles.begin()));
    file.splice(file.begin(), news.files, news.files.begin());
    queue_.open(handle, file);
  }
  for (const mailbox::Owner dead : news.dead) {
    intake_.lanes->reclaim(dead);
    queue_.abandon(dead);
    dying_.push_back(dead);
  }
  is_to_stop_ = news.is_to_stop;
  return true;
}

// Takes commands from the lanes. A command may name a handle that was opened just before: the news
// of it are older than the command.
size_t FileThread::drain() {
  const auto wanted = [&](uint32_t) { return queue_.room(); };
  return intake_.lanes->drain(wanted, [&](uint32_t lane, const Command* commands, size_t count) {
    const mailbox::Owner owner = intake_.lanes->owner(lane);
    take_news();
    for (size_t n = 0; n < count; ++n) queue_.accept(commands[n], owner);
  });
}

// Sleeps until a task makes a request, a transfer ends, or the host's thread has news.
void FileThread::sleep() {
  intake_.bell.arm();
  intake_.lanes->before_sleep();
  if (!work()) {
    pollfd transfers{engine_->fd(), POLLIN, 0};
    mailbox::ThreadBell::sleep(&transfers, 1, -1);
  }
  intake_.bell.disarm();
}

// The requester's task lives, or its memory is held: this thread has not released it yet.
void FileThread::complete(mailbox::Owner owner, const Command& command, int error, uint64_t bytes) {
  command.request->bytes = bytes;
  llcl::complete_flag(&command.request->done, error);
  llcl::wake_task(board_, owner.number());
}

}  // namespace nagaya::files
