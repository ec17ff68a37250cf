// SPDX-License-Identifier: BSD-3-Clause
// pull.h - data that a process of the job keeps where it is, and another one takes: here by a copy
// in which both sides take part, between nodes by reads.
//
//   owner                                           taker
//   Pulls::share(data)  ── Source, in a message ──► Pull(from, source, sink, bytes)
//                          (and Layout)             start(layout); while it is not over: advance()
//   Pulls::unshare()    ◄── an answer ───────────── end
//
// A Source is plain data; it is followed only by the process that it was given to, and its pointer
// only within the node. The owner keeps the data as they are until it is told.
// Between nodes the bytes go from the one layout to the other without a copy of them all on either
// side: as reads of one run, or of pieces.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "layout/runs.h"
#include "llcl/board.h"
#include "llcl/elsewhere.h"

namespace nagaya::llcl {

struct Source {
  uint64_t bytes;
  // Within the node the data, or the nagaya_runs of them. For other nodes: where the region begins,
  // among the owner's addresses.
  const void* data;
  uint32_t region;  // for other nodes; 0: none
  uint32_t is_in_runs;
};

// The runs of shared data, as their owner addresses them, for a taker on another node. At most
// kLayoutMaxRuns; none for data that are one run.
using Layout = std::vector<nagaya_runs>;
inline constexpr size_t kLayoutMaxRuns = 64;

// Where data go: a buffer, or in pieces, in their order, to a function that stores them.
struct Sink {
  void* buffer;
  size_t capacity;                                               // [bytes]
  const nagaya_runs* runs;                                       // in place of `buffer`, or nullptr
  void (*store)(void* context, const void* data, size_t bytes);  // in place of both, or nullptr
  void* context;

  bool is_one_run() const { return runs == nullptr && store == nullptr; }
};

// A task's way to share data, and to take those of others.
class Pulls {
 public:
  Pulls(Board& board, mailbox::Owner self, Elsewhere& elsewhere)
      : board_(board), self_(self), elsewhere_(elsewhere) {}

  // Lets `taker` have the first `bytes` of the data. Returns 0, -EAGAIN (too many regions just
  // now), -EINVAL, -ESRCH. May throw std::bad_alloc, then nothing has changed.
  //   region   of an earlier call that was to be repeated, or 0; gets the new one
  int share(nagaya_process taker, const layout::Buffer& data, size_t bytes, uint32_t& region,
            Source& out, Layout& layout);
  void unshare(uint32_t region) {
    if (region == 0) return;
    elsewhere_.unshare(region);
    if (!packed_.empty()) packed_.erase(region);
  }
  // The data of a message that was handed over: up to `bytes`, from a buffer of the caller's.
  void store(const Sink& sink, const std::byte* data, size_t bytes) {
    if (bytes <= kTinyBytes && sink.is_one_run()) {
      if (bytes != 0) std::memcpy(sink.buffer, data, bytes);  // else either may be null
      return;
    }
    copy_here(sink, {data, bytes, nullptr}, bytes, self_.number());
  }

 private:
  friend class Pull;
  // Up to this size an offer to helpers costs more than the copy.
  static constexpr size_t kTinyBytes = 40;

  bool is_here(nagaya_process process) const {
    return process.node == board_.node.load(std::memory_order_relaxed);
  }
  // `peer`: the task that waits for it, or the own one.
  void copy_here(const Sink& sink, const layout::Buffer& from, size_t bytes, uint32_t peer);
  int share_packed(const layout::Buffer& data, size_t bytes, uint32_t& region, Source& out);

  Board& board_;
  const mailbox::Owner self_;
  Elsewhere& elsewhere_;
  // Copies of data in more runs than a Layout says, by region.
  std::unordered_map<uint32_t, std::unique_ptr<std::byte[]>> packed_;
};

// One transfer. Belongs to one thread at a time. It must not move once advance() was called.
class Pull {
 public:
  // `bytes`: so much of the source, at most what the sink holds.
  Pull(Pulls& pulls, nagaya_process from, const Source& source, const Sink& sink, size_t bytes);
  Pull(Pull&& other);
  ~Pull();

  // Whether it is over, with error(). `layout`: nagaya_runs that came with the source. May throw
  // std::bad_alloc, then nothing has happened.
  bool start(std::span<const std::byte> layout);
  // Goes on with a pull that start() has not ended. True: it is over, with error().
  bool advance();
  // Whether a portion has come since the last advance(). Acquire: pairs with the delegatee.
  bool has_come() const { return done_.load(std::memory_order_acquire) != 0; }
  bool is_asked() const { return asked_bytes_ != 0; }
  int error() const { return error_; }

 private:
  class Pieces;

  void ask();

  Pulls& pulls_;
  nagaya_process from_;
  Source source_;
  Sink sink_;
  size_t bytes_, taken_bytes_ = 0;
  size_t asked_bytes_ = 0;          // of the portion that is on its way; 0: not asked for
  std::atomic<uint32_t> done_ = 0;  // of the portion: 1, or a negative errno
  int error_ = 0;
  std::unique_ptr<std::byte[]> staged_;  // where a portion goes that the sink stores
  std::unique_ptr<Pieces> pieces_;       // nullptr: both sides are one run
};

}  // namespace nagaya::llcl
