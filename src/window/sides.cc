// SPDX-License-Identifier: BSD-3-Clause
#include "window/sides.h"

#include <algorithm>

#include "layout/runs.h"

namespace nagaya::window {
namespace {

// Adds a group of runs to `reach` and its bytes to `*bytes`. False: the sums have overflown, or a
// run is empty.
bool add_runs(const nagaya_runs& runs, Reach& reach, size_t* bytes) {
  size_t total = 0;
  int64_t last = 0, end = 0;
  const auto first = reinterpret_cast<int64_t>(runs.first);
  if (runs.bytes == 0 || runs.count == 0 ||
      __builtin_mul_overflow(runs.bytes, runs.count, &total) ||
      __builtin_add_overflow(*bytes, total, bytes) ||
      __builtin_mul_overflow(runs.count - 1, runs.stride, &last) ||
      __builtin_add_overflow(first, last, &last) ||
      __builtin_add_overflow(std::max(first, last), runs.bytes, &end))
    return false;
  reach = {std::min({reach.low, first, last}), std::max(reach.high, end)};
  return true;
}

}  // namespace

int reach_of_runs(const nagaya_window_buffer& buffer, Reach* out) {
  *out = {INT64_MAX, INT64_MIN};
  size_t bytes = 0;
  for (size_t n = 0; n < buffer.groups; ++n)
    if (!add_runs(buffer.runs[n], *out, &bytes)) return -ERANGE;
  return bytes == buffer.bytes ? 0 : -EINVAL;
}

bool has_elements_in_runs(const nagaya_window_buffer& buffer, const reduction::Elements& elements) {
  for (size_t group = 0; group < buffer.groups; ++group)
    if (elements.has_rest(buffer.runs[group].bytes)) return false;
  Reach reach;
  return reach_of(buffer, &reach) == 0;
}

Packed::Packed(const nagaya_window_buffer* buffer, const reduction::Elements& elements)
    : buffer_(buffer), elements_(elements) {
  if (has_copy()) copy_.reset(static_cast<std::byte*>(std::malloc(buffer->bytes)));
}

// Calls move(run, its place in the copy, elements). Elements with gaps are moved one by one: the
// bytes in the gaps are not theirs.
template <class Move>
void Packed::for_each_run(Move move) const {
  std::byte* packed = copy_.get();
  for (size_t group = 0; group < buffer_->groups; ++group) {
    const nagaya_runs& runs = buffer_->runs[group];
    auto* run = static_cast<std::byte*>(runs.first);
    for (size_t n = 0; n < runs.count; ++n, run += runs.stride, packed += runs.bytes)
      move(run, packed, elements_.count_in(runs.bytes));
  }
}

void Packed::pack() const {
  if (!has_copy()) return;
  const size_t bytes = buffer_->bytes;
  if (elements_.copy == nullptr)
    return layout::gather({nullptr, bytes, buffer_->runs}, copy_.get(), bytes);
  for_each_run([this](std::byte* own, std::byte* packed, size_t count) {
    elements_.copy(nullptr, packed, own, count);
  });
}

void Packed::unpack() const {
  if (!has_copy()) return;
  const size_t bytes = buffer_->bytes;
  if (elements_.copy == nullptr)
    return layout::copy(layout::Buffer(nullptr, bytes, buffer_->runs).walk(),
                        layout::Buffer(copy_.get(), bytes).walk(), bytes);
  for_each_run([this](std::byte* own, std::byte* packed, size_t count) {
    elements_.copy(nullptr, own, packed, count);
  });
}

}  // namespace nagaya::window
