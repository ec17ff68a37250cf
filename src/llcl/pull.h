// SPDX-License-Identifier: BSD-3-Clause
// pull.h - data that a process of the job keeps where it is, and another one takes: here by a copy
// in which both sides take part, between nodes by reads.
//
//   owner                                          taker
//   Sources::share(data) ── Source, in a note ──►  Pull(from, source, sink, bytes)
//                                                  start(); while it is not over: advance()
//   Sources::unshare()   ◄── an answer ──────────  end
//
// A Source is plain data; it is followed only by the process that it was given to, and its pointer
// only within the node. The owner keeps the data as they are until it is told.
#pragma once

#include <atomic>
#include <memory>

#include "llcl/board.h"
#include "llcl/elsewhere.h"
#include "llcl/layout.h"

namespace nagaya::llcl {

struct Source {
  uint64_t bytes;
  const void* data;     // within the node: the data, or the nagaya_runs of them
  uint32_t region;      // for other nodes; 0: none
  uint32_t is_in_runs;  // `data`
};

// Where data go: a buffer, or in pieces, in their order, to a function that stores them.
struct Sink {
  void* buffer;
  size_t capacity;                                               // [bytes]
  const nagaya_runs* runs;                                       // in place of `buffer`, or nullptr
  void (*store)(void* context, const void* data, size_t bytes);  // in place of both, or nullptr
  void* context;
};

// What a task needs to share data, and to take those of others.
class Pulls {
 public:
  Pulls(Board& board, mailbox::Owner self, Elsewhere& elsewhere)
      : board_(board), self_(self), elsewhere_(elsewhere) {}

  // Whether the taker can have data that lie so: between nodes one run of bytes.
  bool can_share(nagaya_process taker, const nagaya_runs* runs) const {
    return runs == nullptr || is_here(taker);
  }
  // Lets `taker` have the data. Returns 0, -EAGAIN (too many regions just now), -EINVAL, -ESRCH.
  // `region`: of an earlier call that was to be repeated, or 0; the new one.
  int share(nagaya_process taker, const void* data, const nagaya_runs* runs, size_t bytes,
            uint32_t& region, Source& out) {
    if (!is_here(taker) && bytes != 0 && region == 0)
      if (const int error = elsewhere_.share(data, bytes, region); error != 0) return error;
    out = {bytes, runs != nullptr ? static_cast<const void*>(runs) : data, region, runs != nullptr};
    return 0;
  }
  void unshare(uint32_t region) {
    if (region != 0) elsewhere_.unshare(region);
  }
  // The data of a message that was handed over: up to `bytes`, from a buffer of the caller's.
  void store(const Sink& sink, const std::byte* data, size_t bytes) {
    const Buffer from(data, bytes, nullptr);
    copy_here(sink, from, bytes, self_.number());
  }

 private:
  friend class Pull;
  bool is_here(nagaya_process process) const {
    return process.node == board_.node.load(std::memory_order_relaxed);
  }
  // `peer`: the task that waits for it, or the own one.
  void copy_here(const Sink& sink, const Buffer& from, size_t bytes, uint32_t peer);

  Board& board_;
  const mailbox::Owner self_;
  Elsewhere& elsewhere_;
};

// One transfer. Belongs to one thread at a time. It must not move once advance() was called.
class Pull {
 public:
  // `bytes`: so much of the source, at most what the sink holds.
  Pull(Pulls& pulls, nagaya_process from, const Source& source, const Sink& sink, size_t bytes)
      : pulls_(pulls), from_(from), source_(source), sink_(sink), bytes_(bytes) {}
  Pull(Pull&& other) : Pull(other.pulls_, other.from_, other.source_, other.sink_, other.bytes_) {
    staged_ = std::move(other.staged_);
  }

  // Whether it is over: the data are there. May throw std::bad_alloc, then nothing has happened.
  bool start();
  // Of one that was not: goes on. Whether it is over, with error().
  bool advance();
  // Whether something has come since the last advance(). Acquire: pairs with the delegatee.
  bool has_come() const { return done_.load(std::memory_order_acquire) != 0; }
  bool is_asked() const { return asked_bytes_ != 0; }
  int error() const { return error_; }

 private:
  void ask();
  void spread();

  Pulls& pulls_;
  nagaya_process from_;
  Source source_;
  Sink sink_;
  size_t bytes_, taken_bytes_ = 0;
  size_t asked_bytes_ = 0;          // of the portion that is on its way; 0: not asked for
  std::atomic<uint32_t> done_ = 0;  // of the portion: 1, or a negative errno
  int error_ = 0;
  std::unique_ptr<std::byte[]> staged_;  // where it goes when the sink is not one run
};

}  // namespace nagaya::llcl
