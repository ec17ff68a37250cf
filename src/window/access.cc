// SPDX-License-Identifier: BSD-3-Clause
#include "window/access.h"

#include <errno.h>

#include "layout/bytes.h"
#include "layout/runs.h"
#include "llcl/board/accumulate.h"
#include "reduction/reductions.h"
#include "window/sides.h"

namespace nagaya::window {
namespace {

using layout::Walk;

// Whether all that `to` has at a member of a dynamic window is attached.
bool is_attached(const Attachments& attachments, const nagaya_window_target& to,
                 const Reach& reach) {
  const auto low = static_cast<uint64_t>(reach.low), high = static_cast<uint64_t>(reach.high);
  if (attachments.contains(low + to.displacement, high - low)) return true;
  // Its runs may lie in regions that do not follow each other.
  const nagaya_window_buffer& place = to.place;
  for (size_t group = 0; place.runs != nullptr && group < place.groups; ++group) {
    const nagaya_runs& runs = place.runs[group];
    uint64_t begin = reinterpret_cast<uint64_t>(runs.first) + to.displacement;
    for (size_t n = 0; n < runs.count; ++n, begin += static_cast<uint64_t>(runs.stride))
      if (!attachments.contains(begin, runs.bytes)) return false;
  }
  return place.runs != nullptr;
}

// Checks an access of `to.place.bytes` bytes, of which the last `gap` at the end of the reach are
// not touched. *at gets the address of the displacement. Returns 0 or an error; with 0 bytes *at
// stays as it is.
int locate(Window& window, const nagaya_window_target& to, std::byte** at, size_t gap = 0) {
  if (to.rank >= window.size()) return -EINVAL;
  if (!window.epochs().may_access(to.rank)) return -EPROTO;
  if (to.place.bytes == 0) return 0;
  Reach reach;
  if (const int error = reach_of(to.place, &reach); error != 0) return error;
  reach.high -= static_cast<int64_t>(gap);
  const Part& part = window.part(to.rank);
  if (window.is_dynamic()) {
    if (!is_attached(part.attachments, to, reach)) return -ERANGE;
    *at = reinterpret_cast<std::byte*>(to.displacement);
    return 0;
  }
  uint64_t begin = 0;
  if (const int error = place_in({part.bytes, part.unit}, to, reach, &begin); error != 0)
    return error;
  *at = part.base + begin;
  return 0;
}

// Finds one element. Arguments and result as those of locate().
int locate_element(Window& window, uint32_t rank, uint64_t displacement, nagaya_element_type type,
                   std::byte** at) {
  const reduction::Elements& elements = reduction::elements_of(type);
  return locate(window, {rank, displacement, {nullptr, elements.true_extent, nullptr, 0}}, at);
}

// A side of a copy. `origin` is added to the addresses of its buffer.
class Side {
 public:
  Side(const nagaya_window_buffer& buffer, std::byte* origin)
      : origin_(reinterpret_cast<ptrdiff_t>(origin)),
        buffer_(buffer),
        one_{buffer.first, buffer.bytes, 1, 0} {}

  bool is_one_run() const { return buffer_.runs == nullptr; }
  std::byte* data() const { return static_cast<std::byte*>(buffer_.first) + origin_; }
  Walk walk() const { return Walk(is_one_run() ? &one_ : buffer_.runs, origin_); }

 private:
  const ptrdiff_t origin_;
  const nagaya_window_buffer& buffer_;
  const nagaya_runs one_;
};

// From this size on, waiting threads may help (cooperative_copy.h).
constexpr size_t kHelpedMinBytes = 32 << 10;

void copy(const Window& window, uint32_t rank, const Side& to, const Side& from, size_t bytes) {
  if (bytes < kHelpedMinBytes) window.group().count_copied(bytes);
  if (to.is_one_run() && from.is_one_run()) {
    if (bytes < kHelpedMinBytes)
      layout::copy_bytes(to.data(), from.data(), bytes);
    else
      window.group().copy(to.data(), from.data(), bytes, window.index_of(rank));
  } else if (bytes < kHelpedMinBytes) {
    layout::copy(to.walk(), from.walk(), bytes);
  } else {
    window.group().copy_runs(to.walk(), from.walk(), bytes, window.index_of(rank));
  }
}

// Checks both sides of a copy. *at gets the address of the displacement.
int check_copy(Window& window, const nagaya_window_buffer& own, const nagaya_window_target& other,
               std::byte** at) {
  if (own.bytes != other.place.bytes) return -EINVAL;
  Reach reach;
  if (own.runs != nullptr && own.bytes != 0 && reach_of(own, &reach) != 0) return -EINVAL;
  return locate(window, other, at);
}

// Accumulates by a copy of the elements of a side that lie in runs. `what` is complete but for the
// caller's sides.
[[gnu::noinline]] int accumulate_packed(Window& window, const nagaya_window_buffer* from,
                                        const nagaya_window_buffer* result,
                                        nagaya_llcl_accumulation what) {
  const reduction::Elements& elements = reduction::elements_of(what.type);
  const Packed origin(from, elements), before(result, elements);
  if (origin.lacks_memory() || before.lacks_memory()) return -ENOMEM;
  origin.pack();
  what.origin = origin.data();
  what.result = before.data();
  const int error = llcl::accumulate(window.board(), window.owner(), what);
  if (error == 0) before.unpack();
  return error;
}

// Ends an access: an epoch of a fence is used now, unless the access has failed.
int ended(Window& window, int error) {
  if (error == 0) window.epochs().note_access();
  return error;
}

}  // namespace

int put(Window& window, const nagaya_window_buffer& from, const nagaya_window_target& to) {
  std::byte* at = nullptr;
  const int error = check_copy(window, from, to, &at);
  if (error == 0 && from.bytes != 0)
    copy(window, to.rank, Side(to.place, at), Side(from, nullptr), from.bytes);
  return ended(window, error);
}

int get(Window& window, const nagaya_window_buffer& to, const nagaya_window_target& from) {
  std::byte* at = nullptr;
  const int error = check_copy(window, to, from, &at);
  if (error == 0 && to.bytes != 0)
    copy(window, from.rank, Side(to, nullptr), Side(from.place, at), to.bytes);
  return ended(window, error);
}

int accumulate(Window& window, const nagaya_window_buffer* from, const nagaya_window_buffer* result,
               const nagaya_window_target& to, ElementOperation what) {
  const size_t bytes = to.place.bytes;
  if (!are_elements(what.type, bytes, from, result)) return -EINVAL;
  const reduction::Elements& elements = reduction::elements_of(what.type);
  std::byte* at = nullptr;
  const size_t gap = elements.extent - elements.true_extent;
  if (const int error = locate(window, to, &at, gap); error != 0) return error;
  if (bytes == 0) return ended(window, 0);  // whether or not the operation is defined for the type
  std::byte* const first =
      to.place.runs == nullptr ? at + reinterpret_cast<ptrdiff_t>(to.place.first) : at;
  const nagaya_llcl_accumulation all = {what.type,
                                        what.operation,
                                        elements.count_in(bytes),
                                        first,
                                        to.place.runs,
                                        from == nullptr ? nullptr : from->first,
                                        result == nullptr ? nullptr : result->first};
  if (is_in_runs(from) || is_in_runs(result))
    return ended(window, accumulate_packed(window, from, result, all));
  return ended(window, llcl::accumulate(window.board(), window.owner(), all));
}

int fetch_and_op(Window& window, uint32_t rank, uint64_t displacement, const Fetch& values,
                 ElementOperation what) {
  if (!is_type(what.type) || values.result == nullptr) return -EINVAL;
  std::byte* at = nullptr;
  if (const int error = locate_element(window, rank, displacement, what.type, &at); error != 0)
    return error;
  return ended(window, llcl::accumulate(window.board(), window.owner(),
                                        {what.type, what.operation, 1, at, nullptr, values.operand,
                                         values.result}));
}

int compare_and_swap(Window& window, uint32_t rank, uint64_t displacement,
                     const CompareSwap& what) {
  if (!is_type(what.type) || !has_comparable_bytes(what.type)) return -EINVAL;
  const size_t bytes = reduction::elements_of(what.type).extent;
  std::byte* at = nullptr;
  if (const int error = locate_element(window, rank, displacement, what.type, &at); error != 0)
    return error;
  return ended(window, llcl::compare_swap(window.board(), window.owner(),
                                          {at, bytes, what.expected, what.desired, what.result}));
}

}  // namespace nagaya::window
