// SPDX-License-Identifier: BSD-3-Clause
// file_thread.h - the host's thread that carries out the tasks' requests for files. It sleeps while
// there are none. Public functions: called by the host's one other thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "delegatee/files/intake.h"
#include "delegatee/files/queue.h"
#include "llcl/board/board.h"

namespace nagaya::files {

class FileThread {
 public:
  // Starts the thread. Throws base::Error, std::bad_alloc, std::system_error.
  explicit FileThread(llcl::Board& board);
  // Waits for the transfers in progress; drops what has not begun.
  ~FileThread();

  // Takes over a descriptor for `owner`. Throws base::Error -ENOBUFS (no lane is free),
  // std::bad_alloc; then the file is closed and no handle is left.
  Opened open(base::Fd file, mailbox::Owner owner);
  // Drops the requests of an ended task. May throw std::bad_alloc.
  void abandon(mailbox::Owner dead);
  // True while the kernel may read or write the memory of an abandoned task.
  bool holds(uint32_t task) const {
    return holds_[task].load(std::memory_order_acquire);  // pairs with the thread's release
  }

 private:
  // Files, handles and deaths that the host's thread has queued for this one.
  struct News {
    Handles handles;
    OpenFiles files;  // one for each handle, in the order of their numbers
    std::vector<mailbox::Owner> dead;
    bool is_to_stop = false;
  };

  // The lane of a living task that has opened a file.
  struct Claimed {
    mailbox::Owner owner;
    uint32_t lane;
  };

  uint32_t lane_of(mailbox::Owner owner);
  void run();
  bool take_news();
  size_t drain();
  bool work();
  void sleep();
  void complete(mailbox::Owner owner, const Command& command, int error, uint64_t bytes);

  llcl::Board& board_;
  base::Mapping memory_;
  Intake& intake_;
  std::vector<std::atomic<bool>> holds_;  // by task number
  uint32_t opened_ = 0;                   // the last handle's number
  std::vector<Claimed> claimed_;          // by task number
  std::mutex lock_;                       // guards news_
  News news_;
  std::atomic<bool> has_news_ = false;
  // The thread's own:
  const std::unique_ptr<Engine> engine_;
  Queue queue_;
  std::vector<mailbox::Owner> dying_;  // abandoned, and in use
  bool is_to_stop_ = false;
  std::thread thread_;
};

}  // namespace nagaya::files
