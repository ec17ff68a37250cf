// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/pull.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace nagaya::llcl {
namespace {

constexpr size_t kStagedBytes = 1 << 20;  // a portion for a sink that stores
constexpr size_t kPiecesAtOnce = 64;
// A portion for other sinks. A node's answer to a probe queues behind the data that are read from
// it: on a link of 1 Gbit/s with several such portions pending, it arrives well before the node
// counts as failed (fail_after_ms of the delegatee).
constexpr size_t kPortionMaxBytes = size_t{32} << 20;

// Packs the runs of `from` into portions that stay in the first cache, and passes each to
// sink.store.
void store_runs(const Sink& sink, const layout::Buffer& from, size_t bytes) {
  std::byte portion[16 << 10];
  layout::Walk walk = from.walk();
  while (bytes != 0) {
    const size_t next = std::min(bytes, sizeof portion);
    layout::copy(layout::Buffer(portion, next, nullptr).walk(), walk, next);
    sink.store(sink.context, portion, next);
    if (bytes -= next; bytes != 0) walk.advance(next);
  }
}

}  // namespace

void Pulls::copy_here(const Sink& sink, const layout::Buffer& from, size_t bytes, uint32_t peer) {
  if (sink.store != nullptr) {
    count(board_, self_, &TaskActivity::copied_bytes, bytes);
    if (from.is_one_run()) return sink.store(sink.context, from.data(), bytes);
    return store_runs(sink, from, bytes);
  }
  const layout::Buffer to(sink.buffer, sink.capacity, sink.runs);
  const bool is_one_run = to.is_one_run() && from.is_one_run();
  if (is_one_run && bytes <= kTinyBytes) {
    count(board_, self_, &TaskActivity::copied_bytes, bytes);
    std::memmove(to.data(), from.data(), bytes);
    return;
  }
  const Layouts layouts{to.walk(), from.walk()};
  const Copy copy{to.data(), from.data(), bytes, peer, is_one_run ? nullptr : &layouts};
  const uint64_t own_bytes = board_.copies->copy(copy, self_, BoardTasks{board_});
  count(board_, self_, &TaskActivity::copied_bytes, own_bytes);
}

// ---- sharing ------------------------------------------------------------------------------------

namespace {

layout::Span span_of(const nagaya_runs& runs) {
  layout::Span span;
  layout::span_of({0, 0, runs.bytes, runs.count, 0, 0}, reinterpret_cast<uint64_t>(runs.first),
                  runs.stride, &span);
  return span;
}

// Copies to `layout` the runs that hold the first `bytes`. Returns the span from their lowest to
// their highest byte. Ends early with more than kLayoutMaxRuns of them.
layout::Span describe(const nagaya_runs* runs, size_t bytes, Layout& layout) {
  uint64_t first = UINT64_MAX, end = 0;
  layout.clear();
  for (size_t left = bytes; left != 0 && layout.size() <= kLayoutMaxRuns; ++runs) {
    nagaya_runs& one = layout.emplace_back(*runs);
    one.count = std::min(one.count, (left - 1) / one.bytes + 1);
    left -= std::min(left, one.count * one.bytes);
    const layout::Span span = span_of(one);
    first = std::min(first, span.first);
    end = std::max(end, span.first + span.bytes);
  }
  return {first, end - first};
}

}  // namespace

int Pulls::share(nagaya_process taker, const layout::Buffer& data, size_t bytes, uint32_t& region,
                 Source& out, Layout& layout) {
  const void* const first = data.is_one_run() ? static_cast<const void*>(data.data()) : data.runs();
  out = {bytes, first, region, !data.is_one_run()};
  if (is_here(taker) || bytes == 0) return 0;
  layout::Span span{reinterpret_cast<uint64_t>(first), bytes};
  if (!data.is_one_run()) span = describe(data.runs(), bytes, layout);
  if (layout.size() > kLayoutMaxRuns) {
    layout.clear();
    return share_packed(data, bytes, region, out);
  }
  out.data = reinterpret_cast<const void*>(span.first);
  const int error = region != 0 ? 0 : remote_nodes_.share(out.data, span.bytes, region);
  out.region = region;
  return error;
}

int Pulls::share_packed(const layout::Buffer& data, size_t bytes, uint32_t& region, Source& out) {
  if (region == 0) {
    auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes);
    layout::gather(data, copy.get(), bytes);
    const int error = remote_nodes_.share(copy.get(), bytes, region);
    if (error != 0) return error;
    try {
      packed_[region] = std::move(copy);
    } catch (...) {
      remote_nodes_.unshare(std::exchange(region, 0));
      throw;
    }
  }
  out = {bytes, packed_[region].get(), region, 0};
  return 0;
}

// ---- a transfer ---------------------------------------------------------------------------------

// Cuts the layouts of both sides into the pieces of one read after another.
class Pull::Pieces {
 public:
  // `layout`: the source's runs; empty: the source is one run. May throw std::bad_alloc.
  Pieces(const Source& source, std::span<const std::byte> layout, const Sink& sink)
      : begin_(reinterpret_cast<uint64_t>(source.data)),
        layout_(layout.size() / sizeof(nagaya_runs)),
        source_(source.data, source.bytes, layout_.empty() ? nullptr : layout_.data()),
        sink_(sink.buffer, sink.capacity, sink.runs),
        is_stored_(sink.store != nullptr),
        from_(source_.runs()),
        to_(sink_.runs()) {
    if (!layout_.empty())
      std::memcpy(layout_.data(), layout.data(), layout_.size() * sizeof(nagaya_runs));
    all_.reserve(kPiecesAtOnce);
  }

  // Returns whether the source's layout is valid and holds `bytes`. It comes from another node,
  // which is not trusted.
  bool is_sound(size_t bytes) const {
    uint64_t held = 0;
    const size_t groups = layout_.empty() ? 1 : layout_.size();
    for (const nagaya_runs& runs : std::span(source_.runs(), groups)) {
      layout::Span span;
      uint64_t held_here;
      if (begin_ == 0 || runs.bytes == 0 || runs.count == 0 ||
          !layout::span_of({0, 0, runs.bytes, runs.count, 0, 0},
                           reinterpret_cast<uint64_t>(runs.first), runs.stride, &span) ||
          span.first < begin_ || __builtin_mul_overflow(runs.bytes, runs.count, &held_here) ||
          __builtin_add_overflow(held, held_here, &held))
        return false;
    }
    return held >= bytes;
  }

  // Makes the next pieces, of `bytes` at most, for the sink or, if not nullptr, for `staged`.
  // Returns how many bytes they have.
  size_t cut(std::byte* staged, size_t bytes) {
    const layout::Buffer portion(staged, bytes, nullptr);
    all_.clear();
    return layout::cut(staged != nullptr ? layout::Walk(portion.runs()) : to_, from_, bytes,
                       [&](const layout::Walk::Parts& to, const layout::Walk::Parts& from,
                           size_t count, size_t part) {
                         all_.push_back({to.first, reinterpret_cast<uint64_t>(from.first) - begin_,
                                         part, count, to.stride, from.stride});
                         return all_.size() < kPiecesAtOnce;
                       });
  }
  std::span<const nagaya_llcl_piece> all() const { return all_; }
  // Steps over `bytes` that have arrived. More must follow.
  void go_on(size_t bytes) {
    from_.advance(bytes);
    if (!is_stored_) to_.advance(bytes);
  }

 private:
  const uint64_t begin_;  // of the region
  std::vector<nagaya_runs> layout_;
  const layout::Buffer source_, sink_;
  const bool is_stored_;
  layout::Walk from_, to_;
  std::vector<nagaya_llcl_piece> all_;
};

Pull::Pull(Pulls& pulls, nagaya_process from, const Source& source, const Sink& sink, size_t bytes)
    : pulls_(pulls), from_(from), source_(source), sink_(sink), bytes_(bytes) {}
Pull::Pull(Pull&& other)
    : Pull(other.pulls_, other.from_, other.source_, other.sink_, other.bytes_) {
  staged_ = std::move(other.staged_);
  pieces_ = std::move(other.pieces_);
}
Pull::~Pull() = default;

bool Pull::start(std::span<const std::byte> layout) {
  if (bytes_ == 0) return true;
  if (pulls_.is_here(from_)) {
    const auto* const runs =
        source_.is_in_runs != 0 ? static_cast<const nagaya_runs*>(source_.data) : nullptr;
    pulls_.copy_here(sink_, {source_.data, source_.bytes, runs}, bytes_, from_.task);
    return true;
  }
  if (sink_.store != nullptr)
    staged_ = std::make_unique_for_overwrite<std::byte[]>(std::min(bytes_, kStagedBytes));
  if (!layout.empty() || sink_.runs != nullptr)
    pieces_ = std::make_unique<Pieces>(source_, layout, sink_);
  if (pieces_ != nullptr && !pieces_->is_sound(bytes_)) error_ = -EINVAL;
  return error_ != 0;
}

// Requests the next portion. If there is no room just now, a later advance() does.
void Pull::request() {
  const size_t bytes_most = staged_ != nullptr ? kStagedBytes : kPortionMaxBytes;
  size_t bytes = std::min(bytes_ - taken_bytes_, bytes_most);
  done_.store(0, std::memory_order_relaxed);
  int error;
  if (pieces_ != nullptr) {
    bytes = pieces_->cut(staged_.get(), bytes);
    error = pulls_.remote_nodes_.read_pieces(from_, source_.region, pieces_->all(), done_);
  } else {
    std::byte* const to =
        staged_ != nullptr ? staged_.get() : static_cast<std::byte*>(sink_.buffer) + taken_bytes_;
    error = pulls_.remote_nodes_.read(from_, source_.region, taken_bytes_, to, bytes, done_);
  }
  if (error == -EAGAIN || error == -ENOBUFS) return;  // perhaps another thread has a lane
  requested_bytes_ = bytes;
  if (error != 0) done_.store(static_cast<uint32_t>(error), std::memory_order_relaxed);
}

bool Pull::advance() {
  if (requested_bytes_ == 0) request();
  if (requested_bytes_ == 0 || !has_arrived()) return false;
  const auto status = static_cast<int32_t>(done_.load(std::memory_order_relaxed));
  if (status < 0) {
    error_ = status;
    return true;
  }
  const size_t arrived_bytes = std::exchange(requested_bytes_, 0);
  if (staged_ != nullptr) sink_.store(sink_.context, staged_.get(), arrived_bytes);
  taken_bytes_ += arrived_bytes;
  if (taken_bytes_ == bytes_) return true;
  if (pieces_ != nullptr) pieces_->go_on(arrived_bytes);
  request();
  return false;
}

}  // namespace nagaya::llcl
