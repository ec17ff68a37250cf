// SPDX-License-Identifier: BSD-3-Clause
// runs.h - buffers of one or many contiguous runs of bytes, and the copy between any two. All
// floors and the delegatee use this copy.
//
//   runs[0]: first      + stride                     runs[1]: first
//            | bytes |  | bytes |  | bytes |  ...             |   bytes   |  ...
//            └ index 0  └ index 1 ── offset ──►               (the message goes on here)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "layout/bytes.h"
#include "nagaya/llcl.h"

namespace nagaya::layout {

// A cursor in a buffer, which advances in the order of the message's bytes. Never past the buffer's
// end.
class Walk {
 public:
  Walk() = default;
  // `shift`: added to each address that the runs name [bytes].
  explicit Walk(const nagaya_runs* runs, ptrdiff_t shift = 0) : runs_(runs), shift_(shift) {}

  // Equal parts, one stride apart, from the cursor on; all in one group of runs.
  struct Parts {
    std::byte* first;
    ptrdiff_t stride;
    size_t count;  // of parts
  };

  std::byte* at() const {
    return static_cast<std::byte*>(runs_->first) + shift_ +
           static_cast<ptrdiff_t>(index_) * runs_->stride + offset_;
  }
  size_t left_in_run() const { return runs_->bytes - offset_; }

  // Returns the parts of `bytes` each from the cursor on. `bytes` is at most left_in_run().
  Parts parts_of(size_t bytes) const {
    if (bytes == runs_->bytes) return {at(), runs_->stride, runs_->count - index_};
    return {at(), static_cast<ptrdiff_t>(bytes), left_in_run() / bytes};
  }

  Walk advanced_by(size_t bytes) const {
    Walk walk = *this;
    walk.advance(bytes);
    return walk;
  }
  void advance(size_t bytes) {
    size_t ahead = index_ * runs_->bytes + offset_ + bytes;  // from where this group begins
    index_ = offset_ = 0;
    for (; ahead != 0 && ahead >= runs_->bytes * runs_->count; ++runs_)
      ahead -= runs_->bytes * runs_->count;
    if (ahead == 0) return;  // perhaps the buffer's end: no group is left then
    index_ = ahead / runs_->bytes;
    offset_ = ahead % runs_->bytes;
  }

 private:
  const nagaya_runs* runs_ = nullptr;
  ptrdiff_t shift_ = 0;
  size_t index_ = 0, offset_ = 0;
};

// The parts are passed by value: behind references they would be loaded again for each part, since
// a store of bytes may change any object.
template <size_t bytes>
void copy_small_parts(Walk::Parts to, Walk::Parts from, size_t count) {
  for (; count != 0; --count, to.first += to.stride, from.first += from.stride)
    std::memcpy(to.first, from.first, bytes);
}

// Copies `count` parts of `bytes` each. The parts of the two sides may overlap.
inline void copy_parts(const Walk::Parts& to, const Walk::Parts& from, size_t count, size_t bytes) {
  switch (bytes) {  // sizes whose copy costs less than a call
    case 4:
      return copy_small_parts<4>(to, from, count);
    case 8:
      return copy_small_parts<8>(to, from, count);
    case 16:
      return copy_small_parts<16>(to, from, count);
    case 32:
      return copy_small_parts<32>(to, from, count);
    case 64:
      return copy_small_parts<64>(to, from, count);
    default:
      for (size_t n = 0; n < count; ++n)
        copy_bytes(to.first + static_cast<ptrdiff_t>(n) * to.stride,
                   from.first + static_cast<ptrdiff_t>(n) * from.stride, bytes);
  }
}

// A buffer as a request describes it: by `runs`, moved by `shift` bytes, or as one run if `runs` is
// nullptr.
class Buffer {
 public:
  Buffer(const void* first, size_t bytes, const nagaya_runs* runs = nullptr, ptrdiff_t shift = 0)
      : one_{const_cast<void*>(first), bytes, 1, 0}, runs_(runs), shift_(shift) {}

  bool is_one_run() const { return runs_ == nullptr; }
  size_t bytes() const { return one_.bytes; }
  std::byte* data() const { return static_cast<std::byte*>(one_.first); }  // of the one run
  // runs(), before the shift, and walk(), from the beginning, are valid while this object lives.
  const nagaya_runs* runs() const { return is_one_run() ? &one_ : runs_; }
  // The runs as a request without a shift names them: nullptr if the buffer is one run.
  const nagaya_runs* runs_or_null() const { return runs_; }
  Walk walk() const { return is_one_run() ? Walk(&one_) : Walk(runs_, shift_); }

 private:
  nagaya_runs one_;
  const nagaya_runs* runs_;
  ptrdiff_t shift_;
};

// Cuts the next `bytes` of the message into parts of one size on both sides. Both have at least
// that many left.
// Calls each(to, from, count, bytes of a part) until it returns false. Returns how many bytes it
// has passed to each().
template <class Each>
size_t cut(Walk to, Walk from, size_t bytes, Each each) {
  size_t left = bytes;
  for (bool goes_on = true; goes_on && left != 0;) {
    const size_t part = std::min({to.left_in_run(), from.left_in_run(), left});
    const Walk::Parts targets = to.parts_of(part), sources = from.parts_of(part);
    const size_t count = std::min({targets.count, sources.count, left / part});
    goes_on = each(targets, sources, count, part);
    to.advance(count * part);
    from.advance(count * part);
    left -= count * part;
  }
  return bytes - left;
}

// Copies the next `bytes` of the message. Both sides have at least that many left.
inline void copy(Walk to, Walk from, size_t bytes) {
  cut(to, from, bytes,
      [](const Walk::Parts& targets, const Walk::Parts& sources, size_t count, size_t part) {
        copy_parts(targets, sources, count, part);
        return true;
      });
}

// Copies the buffer's first `bytes` to contiguous memory. With 0 bytes, either may be null.
inline void gather(const Buffer& from, void* to, size_t bytes) {
  if (bytes == 0) return;
  if (from.is_one_run())
    copy_bytes(to, from.data(), bytes);
  else
    copy(Buffer(to, bytes, nullptr).walk(), from.walk(), bytes);
}

}  // namespace nagaya::layout
