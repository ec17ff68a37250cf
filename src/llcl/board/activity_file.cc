// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/board/activity_file.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <new>

namespace nagaya::llcl {

void ActivityFile::make(Board& board) {
  const size_t bytes = Activity::bytes_for(board.capacity);
  base::Fd file = base::checked_fd(
      ::memfd_create("nagaya-activity", MFD_CLOEXEC | MFD_ALLOW_SEALING), "a memory file");
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    base::throw_errno("a memory file");
  void* const at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (at == MAP_FAILED) base::throw_errno("cannot map the memory file of the tasks' activity");
  memory_ = base::Mapping(at, bytes);
  // A forked child of a task writes nothing of it. If refused, fork() takes longer.
  ::madvise(at, bytes, MADV_DONTFORK);
  ::madvise(at, bytes, MADV_DONTDUMP);
  auto* const activity = new (at) Activity{};
  activity->stamp = {task::kMagic, task::kAbiMajor, task::kAbiMinor, sizeof(Activity), 0};
  activity->capacity = board.capacity;
  file_ = std::move(file);
  board.activity.store(activity, std::memory_order_release);  // pairs with Recorder's acquire
}

int ActivityFile::watch(Board& board, uint32_t what) {
  if (!file_ && what != 0) make(board);
  const uint32_t before = board.watched.exchange(what, std::memory_order_release);
  const bool frees_logs = (before & kLog) != 0 && (what & kLog) == 0;
  if (frees_logs)  // a thread in the middle of an event writes it to a new page
    ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(Activity::logs_at(board.capacity)),
                static_cast<off_t>(board.capacity * Activity::kLogBytes));
  return file_.get();
}

void note_end(Board& board, uint32_t task) {
  if ((board.watched.load(std::memory_order_relaxed) & kLog) == 0) return;
  ActivityEvent event{};
  event.begin = arch::ticks();
  event.kind = ActivityEvent::Kind::kEnded;
  board.activity.load(std::memory_order_relaxed)->add(task, event);
}

}  // namespace nagaya::llcl
