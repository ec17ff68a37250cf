// SPDX-License-Identifier: BSD-3-Clause
// pull.h - rendezvous: one process of the job shares data in place, and another one takes them.
// Within a node this is a copy in which both sides take part, between nodes these are reads.
//
//   owner                                           taker
//   Pulls::share(data)  ── Source, in a message ──► Pull(from, source, sink, bytes)
//                          (and Layout)             start(layout); while it is not over: advance()
//   Pulls::unshare()    ◄── an answer ───────────── end
//
// A Source is plain data. Only the process that it was given to may use it, and its pointer only
// within the node. The owner leaves the data unchanged until the taker's answer.
// Between nodes the bytes go from one layout to the other by reads of one run, or of pieces.
// Neither side packs all of them, except an owner with more than kLayoutMaxRuns runs.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "layout/runs.h"
#include "llcl/board/board.h"
#include "llcl/requests/remote_nodes.h"

namespace nagaya::llcl {

struct Source {
  uint64_t bytes;
  // Within the node: address of the data, or of their nagaya_runs. For other nodes: the region's
  // begin, as an address of the owner.
  const void* data;
  uint32_t region;  // for other nodes; 0: none
  uint32_t is_in_runs;
};

// The runs of shared data, with the owner's addresses, for a taker on another node. At most
// kLayoutMaxRuns; none for data that are one run.
using Layout = std::vector<nagaya_runs>;
inline constexpr size_t kLayoutMaxRuns = 64;

// Destination of data: a buffer, runs, or a function that gets the data in portions, in their
// order.
struct Sink {
  void* buffer;
  size_t capacity;                                               // [bytes]
  const nagaya_runs* runs;                                       // in place of `buffer`, or nullptr
  void (*store)(void* context, const void* data, size_t bytes);  // in place of both, or nullptr
  void* context;

  bool is_one_run() const { return runs == nullptr && store == nullptr; }
};

// Shares a task's data with others, and holds the common state of its Pulls.
class Pulls {
 public:
  Pulls(Board& board, mailbox::Owner self, RemoteNodes& remote_nodes)
      : board_(board), self_(self), remote_nodes_(remote_nodes) {}

  // Lets `taker` have the first `bytes` of the data. Returns 0, -EAGAIN (too many regions just
  // now), -EINVAL, -ESRCH. May throw std::bad_alloc, then nothing has changed.
  //   region   0, or the region of an earlier call for the same data; gets the region of this call
  int share(nagaya_process taker, const layout::Buffer& data, size_t bytes, uint32_t& region,
            Source& out, Layout& layout);
  void unshare(uint32_t region) {
    if (region == 0) return;
    remote_nodes_.unshare(region);
    if (!packed_.empty()) packed_.erase(region);
  }
  // Stores `bytes` of an eager message from the caller's buffer `data` into the sink.
  void store(const Sink& sink, const std::byte* data, size_t bytes) {
    if (bytes <= kTinyBytes && sink.is_one_run()) {
      count(board_, self_, &TaskActivity::copied_bytes, bytes);
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
  // `peer`: the task that waits for the copy, or the calling one.
  void copy_here(const Sink& sink, const layout::Buffer& from, size_t bytes, uint32_t peer);
  int share_packed(const layout::Buffer& data, size_t bytes, uint32_t& region, Source& out);

  Board& board_;
  const mailbox::Owner self_;
  RemoteNodes& remote_nodes_;
  // Packed copies of data that have more runs than a Layout holds, by region.
  std::unordered_map<uint32_t, std::unique_ptr<std::byte[]>> packed_;
};

// One transfer. Belongs to one thread at a time. It must not move once advance() was called.
class Pull {
 public:
  // `bytes`: how much of the source to take, at most the size of the sink.
  Pull(Pulls& pulls, nagaya_process from, const Source& source, const Sink& sink, size_t bytes);
  Pull(Pull&& other);
  ~Pull();

  // Starts the transfer. Returns true if it is over, with error(). `layout`: the nagaya_runs that
  // came with the source. May throw std::bad_alloc; then nothing has happened.
  bool start(std::span<const std::byte> layout);
  // Advances a transfer that start() has not ended. Returns true if it is over, with error().
  bool advance();
  // Returns whether a portion has arrived since the last advance(). Acquire: pairs with the
  // delegatee.
  bool has_arrived() const { return done_.load(std::memory_order_acquire) != 0; }
  bool is_requested() const { return requested_bytes_ != 0; }
  int error() const { return error_; }

 private:
  class Pieces;

  void request();

  Pulls& pulls_;
  nagaya_process from_;
  Source source_;
  Sink sink_;
  size_t bytes_, taken_bytes_ = 0;
  size_t requested_bytes_ = 0;      // size of the requested portion; 0: none is requested
  std::atomic<uint32_t> done_ = 0;  // of the portion: 1 or a negative errno when it has arrived
  int error_ = 0;
  std::unique_ptr<std::byte[]> staged_;  // buffer of a portion for sink_.store
  std::unique_ptr<Pieces> pieces_;       // nullptr: both sides are one run
};

}  // namespace nagaya::llcl
