// SPDX-License-Identifier: BSD-3-Clause
// queue.h - the requests for files that the I/O thread has taken from the tasks, and the transfers
// by which the kernel carries them out.
//
//   Command ─accept─► waiting ─start_one─► in a transfer ─finish_one─► complete
//                        ▲                      │
//                        └── some bytes are left (a short transfer, a part of 8 MiB), or an earlier
//                            request of the transfer has failed
//
// Waiting reads and writes are sorted by file and offset. A transfer takes the oldest request and
// the adjacent ones, whichever tasks have made them. A sync waits for the earlier requests of its
// handle, a close likewise; syncs of one file that may go at once are one call. Used by one thread.
// After the constructor nothing allocates.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <list>
#include <map>
#include <vector>

#include "base/fd.h"
#include "delegatee/files/engine.h"
#include "mailbox/owner.h"

namespace nagaya::files {

// A file that the host has open, for all handles of its tasks that are open in the same mode.
struct OpenFile {
  base::Fd fd;
  uint32_t handles = 0;
  uint32_t transfers = 0;  // in progress
  bool is_syncing = false;
  int sync_error = 0;  // of the first sync that failed: the kernel reports an error only once
  dev_t device = 0;
  ino_t inode = 0;
  int flags = 0;
};

// A task's opening of a file.
struct Handle {
  mailbox::Owner owner;
  OpenFile* file = nullptr;
  uint32_t unfinished = 0;  // requests
  bool is_abandoned = false;
};
using Handles = std::map<uint32_t, Handle>;  // by number
using OpenFiles = std::list<OpenFile>;

class Queue {
 public:
  static constexpr size_t kRequestsMax = 4096;
  static constexpr uint32_t kTransfersPerFile = 16;

  // complete(owner, command, error, bytes) tells the requester; it throws nothing.
  using Complete =
      std::function<void(mailbox::Owner, const Command& command, int error, uint64_t bytes)>;

  Queue(Engine& engine, Complete complete);

  // Takes over one new handle, and its file. Allocates nothing.
  void open(Handles& handle, OpenFiles& file);
  // Drops the waiting requests of an ended task, and its handles once nothing of them is in
  // progress: is_used_by() is false from then on.
  void abandon(mailbox::Owner dead);
  bool is_used_by(mailbox::Owner owner) const;

  // How many requests it can take over.
  size_t room() const { return free_requests_.size(); }
  // Called only if it has room.
  void accept(const Command& command, mailbox::Owner owner);
  // Starts a transfer, or closes a handle. Returns false if nothing can be started.
  bool start_one();
  // Handles the end of a transfer. Returns false if none has ended.
  bool finish_one();
  size_t transfers() const { return jobs_.size() - free_jobs_.size(); }

 private:
  struct Request {
    Command command;
    Handles::iterator handle;
    uint64_t number;  // ascends in the order of acceptance
    uint64_t moved;   // bytes
    size_t place;     // in unfinished_

    OpenFile& file() const { return *handle->second.file; }
    uint64_t position() const { return command.offset + moved; }
    uint64_t left() const { return command.bytes - moved; }
    bool follows(const Request& other) const {
      return &file() == &other.file() && command.op == other.command.op &&
             position() == other.position() + other.left();
    }
  };
  struct Job : Transfer {
    OpenFile* file;
    uint32_t requests_count;
    std::array<Request*, kPiecesMax> requests;
  };
  using Waiting = std::vector<Request*>;

  void sort_waiting();
  bool is_ready(const Request& request) const;
  Waiting::iterator oldest_ready();
  Waiting::iterator first_of_run(Waiting::iterator request) const;
  void start_run(Waiting::iterator first);
  void start_syncs(Waiting::iterator first);
  void start(Job& job, Op op);
  void finish_syncs(Job& job);
  void finish_run(Job& job);
  void wait_again(Request& request);
  void end(Request& request, int error);
  void drop(Request& request);
  void close(Handles::iterator handle);

  Engine& engine_;
  const Complete complete_;
  OpenFiles files_;
  Handles handles_;
  std::vector<Request> requests_;
  std::vector<Request*> free_requests_, unfinished_;
  Waiting waiting_;
  bool is_sorted_ = true;
  uint64_t accepted_ = 0;
  std::vector<Job> jobs_;
  std::vector<Job*> free_jobs_;
};

}  // namespace nagaya::files
