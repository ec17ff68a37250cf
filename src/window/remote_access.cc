// SPDX-License-Identifier: BSD-3-Clause
#include "window/remote_access.h"

#include <errno.h>

#include <vector>

#include "layout/runs.h"
#include "window/sides.h"

namespace nagaya::window {
namespace {

using layout::Walk;

constexpr size_t kPiecesAtOnce = 1024;  // of one request

// `shift`: is added to the addresses, or offsets, of the buffer.
layout::Buffer side(const nagaya_window_buffer& buffer, int64_t shift) {
  if (buffer.runs != nullptr) return {nullptr, buffer.bytes, buffer.runs, shift};
  return {reinterpret_cast<const void*>(reinterpret_cast<int64_t>(buffer.first) + shift),
          buffer.bytes};
}

std::vector<nagaya_runs> shifted(const nagaya_window_buffer& buffer, int64_t shift) {
  std::vector<nagaya_runs> runs(buffer.runs, buffer.runs + buffer.groups);
  for (nagaya_runs& one : runs)
    one.first = reinterpret_cast<void*>(reinterpret_cast<int64_t>(one.first) + shift);
  return runs;
}

// Cuts the next `bytes` into at most kPiecesAtOnce pieces. Returns how many bytes they have.
size_t cut_pieces(const Walk& here, const Walk& there, size_t bytes,
                  std::vector<nagaya_llcl_piece>& pieces) {
  pieces.clear();
  return layout::cut(
      here, there, bytes,
      [&](const Walk::Parts& own, const Walk::Parts& other, size_t count, size_t part) {
        pieces.push_back({own.first, reinterpret_cast<uint64_t>(other.first), part, count,
                          own.stride, other.stride});
        return pieces.size() < kPiecesAtOnce;
      });
}

}  // namespace

// Starts an access of `to.place.bytes` bytes (not 0), of which the last `gap` at the end of the
// reach are not touched. Calls request(place of the lowest byte, on_complete). Returns 0 or an
// error.
template <class Request>
int RemoteAccess::start(const nagaya_window_target& to, bool is_in_order, Request request,
                        size_t gap) {
  Reach reach;
  if (const int error = reach_of(to.place, &reach); error != 0) return error;
  reach.high -= static_cast<int64_t>(gap);
  if (window_.is_dynamic()) return run_attached(to, reach, request);
  uint64_t at = 0;
  if (const int error = place_in(members_.memory(to.rank), to, reach, &at); error != 0)
    return error;
  const nagaya_remote place = members_.place(to.rank, at + static_cast<uint64_t>(reach.low));
  const auto there = [&](const nagaya_completion& done) { return request(place, done); };
  return is_in_order ? members_.start_in_order(to.rank, there) : members_.start(to.rank, there);
}

// The member may have attached anew what an earlier answer has told: its registration is another.
template <class Request>
int RemoteAccess::run_attached(const nagaya_window_target& to, const Reach& reach,
                               Request request) {
  const uint64_t begin = to.displacement + static_cast<uint64_t>(reach.low);
  const auto bytes = static_cast<uint64_t>(reach.high - reach.low);
  for (const bool is_new : {false, true}) {
    const nagaya_remote place = members_.find_attached(to.rank, begin, bytes, is_new);
    if (place.region == 0) break;
    const int error =
        members_.run([&](const nagaya_completion& done) { return request(place, done); });
    if (error != -EINVAL) return error;
  }
  return -ERANGE;
}

int RemoteAccess::ended(int error) {
  if (error == 0) window_.epochs().note_access();
  return error;
}

// ---- put and get --------------------------------------------------------------------------------

int RemoteAccess::copy_runs(bool is_put, const nagaya_window_buffer& own,
                            const nagaya_window_target& other) {
  Reach reach;
  if (const int error = reach_of(other.place, &reach); error != 0) return error;
  const layout::Buffer here = side(own, 0), there = side(other.place, -reach.low);
  Walk own_walk = here.walk(), other_walk = there.walk();
  std::vector<nagaya_llcl_piece> pieces;
  for (size_t left = own.bytes; left != 0;) {
    const size_t bytes = cut_pieces(own_walk, other_walk, left, pieces);
    const auto request = [&](const nagaya_remote& place, const nagaya_completion& on_complete) {
      nagaya_llcl_pieces all{place, pieces.data(), pieces.size(), on_complete};
      return is_put ? ::nagaya_llcl_try_write_pieces(&all) : ::nagaya_llcl_try_read_pieces(&all);
    };
    int error = start(other, false, request);
    if (error == 0) error = members_.flush(other.rank);  // then the pieces may change
    if (error != 0) return error;
    left -= bytes;
    own_walk.advance(bytes);
    other_walk.advance(bytes);
  }
  return 0;
}

int RemoteAccess::copy(bool is_put, const nagaya_window_buffer& own,
                       const nagaya_window_target& other) {
  if (own.bytes != other.place.bytes) return -EINVAL;
  Reach reach;
  if (own.runs != nullptr && own.bytes != 0 && reach_of(own, &reach) != 0) return -EINVAL;
  if (!window_.epochs().may_access(other.rank)) return -EPROTO;
  if (own.bytes == 0) return 0;
  if (own.runs != nullptr || other.place.runs != nullptr) return copy_runs(is_put, own, other);
  return start(other, false, [&](const nagaya_remote& place, const nagaya_completion& on_complete) {
    const nagaya_llcl_transfer transfer{place, own.first, own.bytes, on_complete};
    return is_put ? ::nagaya_llcl_try_write(&transfer) : ::nagaya_llcl_try_read(&transfer);
  });
}

int RemoteAccess::put(const nagaya_window_buffer& from, const nagaya_window_target& to) {
  return ended(copy(true, from, to));
}

int RemoteAccess::get(const nagaya_window_buffer& to, const nagaya_window_target& from) {
  return ended(copy(false, to, from));
}

// ---- accumulates --------------------------------------------------------------------------------

int RemoteAccess::accumulate(const nagaya_window_buffer* from, const nagaya_window_buffer* result,
                             const nagaya_window_target& to, ElementOperation what) {
  const size_t bytes = to.place.bytes;
  if (!are_elements(what.type, bytes, from, result)) return -EINVAL;
  const reduction::Elements& elements = reduction::elements_of(what.type);
  if (!window_.epochs().may_access(to.rank)) return -EPROTO;
  if (bytes == 0) return ended(0);
  if (!reduction::is_defined(what.type, what.operation)) return -EINVAL;
  const Packed origin(from, elements), before(result, elements);
  if (origin.lacks_memory() || before.lacks_memory()) return -ENOMEM;
  origin.pack();
  Reach reach;
  if (const int error = reach_of(to.place, &reach); error != 0) return error;
  const bool is_one_run = to.place.runs == nullptr;
  const std::vector<nagaya_runs> runs =
      is_one_run ? std::vector<nagaya_runs>() : shifted(to.place, -reach.low);
  const nagaya_llcl_accumulation accumulation{what.type,
                                              what.operation,
                                              elements.count_in(bytes),
                                              nullptr,
                                              is_one_run ? nullptr : runs.data(),
                                              origin.data(),
                                              before.data()};
  const auto request = [&](const nagaya_remote& place, const nagaya_completion& on_complete) {
    const nagaya_llcl_remote_accumulation all{place, accumulation, on_complete};
    return ::nagaya_llcl_try_accumulate(&all);
  };
  int error = start(to, true, request, elements.extent - elements.true_extent);
  if (error != 0 || (is_one_run && !origin.has_copy() && !before.has_copy())) return ended(error);
  error = members_.flush(to.rank);  // then the runs and copies may go
  if (error == 0) before.unpack();
  return ended(error);
}

int RemoteAccess::fetch_and_op(uint32_t rank, uint64_t displacement, const Fetch& values,
                               ElementOperation what) {
  if (!is_type(what.type) || !reduction::is_defined(what.type, what.operation) ||
      values.result == nullptr)
    return -EINVAL;
  if (!window_.epochs().may_access(rank)) return -EPROTO;
  const size_t bytes = reduction::elements_of(what.type).true_extent;
  const auto request = [&](const nagaya_remote& place, const nagaya_completion& on_complete) {
    const nagaya_llcl_remote_accumulation one{
        place,
        {what.type, what.operation, 1, nullptr, nullptr, values.operand, values.result},
        on_complete};
    return ::nagaya_llcl_try_accumulate(&one);
  };
  return ended(start({rank, displacement, {nullptr, bytes, nullptr, 0}}, true, request));
}

int RemoteAccess::compare_and_swap(uint32_t rank, uint64_t displacement, const CompareSwap& what) {
  if (!is_type(what.type) || !has_comparable_bytes(what.type)) return -EINVAL;
  if (!window_.epochs().may_access(rank)) return -EPROTO;
  const size_t bytes = reduction::elements_of(what.type).extent;
  const auto request = [&](const nagaya_remote& place, const nagaya_completion& on_complete) {
    const nagaya_llcl_remote_compare_swap one{place,        bytes,       what.expected,
                                              what.desired, what.result, on_complete};
    return ::nagaya_llcl_try_compare_swap(&one);
  };
  return ended(start({rank, displacement, {nullptr, bytes, nullptr, 0}}, true, request));
}

}  // namespace nagaya::window
