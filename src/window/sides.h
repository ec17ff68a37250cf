// SPDX-License-Identifier: BSD-3-Clause
// sides.h - the two sides of an access: whether they fit to each other and into the target's
// memory, and elements of the caller side by side.
#pragma once

#include <errno.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "nagaya/window.h"
#include "reduction/reductions.h"

namespace nagaya::window {

// The bytes that a buffer touches: from its lowest address, or offset, to behind its highest.
struct Reach {
  int64_t low, high;
};

// Computes the reach of a buffer that has bytes. Returns 0, -EINVAL (the runs do not have as many
// bytes as the buffer), -ERANGE (their addresses overflow).
int reach_of_runs(const nagaya_window_buffer& buffer, Reach* out);
inline int reach_of(const nagaya_window_buffer& buffer, Reach* out) {
  if (buffer.runs != nullptr) return reach_of_runs(buffer, out);
  out->low = reinterpret_cast<int64_t>(buffer.first);
  return __builtin_add_overflow(out->low, buffer.bytes, &out->high) ? -ERANGE : 0;
}

struct MemorySize {
  uint64_t bytes, unit;  // unit: of displacements
};

// Returns whether [begin + reach.low, begin + reach.high) lies in [0, bytes).
inline bool is_inside(uint64_t begin, const Reach& reach, uint64_t bytes) {
  int64_t low = 0, high = 0;
  return begin <= INT64_MAX && !__builtin_add_overflow(begin, reach.low, &low) &&
         !__builtin_add_overflow(begin, reach.high, &high) && low >= 0 &&
         static_cast<uint64_t>(high) <= bytes;
}

// Finds the displacement of an access that touches `reach` from there on: *begin gets its bytes
// from the memory's begin. Returns 0, -ERANGE.
inline int place_in(const MemorySize& memory, const nagaya_window_target& to, const Reach& reach,
                    uint64_t* begin) {
  const bool has_place = !__builtin_mul_overflow(to.displacement, memory.unit, begin) &&
                         is_inside(*begin, reach, memory.bytes);
  return has_place ? 0 : -ERANGE;
}

inline bool is_type(nagaya_element_type type) {
  return type >= 0 && static_cast<size_t>(type) < reduction::kElementTypes;
}

// Types whose values are equal if and only if their bytes are.
inline bool has_comparable_bytes(nagaya_element_type type) {
  return (type >= NAGAYA_ELEMENT_INT8 && type <= NAGAYA_ELEMENT_UINT64) ||
         (type >= NAGAYA_ELEMENT_BYTE && type <= NAGAYA_ELEMENT_LOGICAL);
}

// Whether a buffer of the caller, if there is one, has elements that do not lie side by side.
inline bool is_in_runs(const nagaya_window_buffer* buffer) {
  return buffer != nullptr && buffer->runs != nullptr && buffer->bytes != 0;
}

bool has_elements_in_runs(const nagaya_window_buffer& buffer, const reduction::Elements& elements);
// Whether a buffer of the caller, if there is one, has `bytes` bytes, each run whole elements.
inline bool has_elements(const nagaya_window_buffer* buffer, size_t bytes,
                         const reduction::Elements& elements) {
  return buffer == nullptr || (buffer->bytes == bytes &&
                               (!is_in_runs(buffer) || has_elements_in_runs(*buffer, elements)));
}

// Whether `bytes` at a target, and in the caller's buffers, are whole elements.
inline bool are_elements(nagaya_element_type type, size_t bytes, const nagaya_window_buffer* from,
                         const nagaya_window_buffer* result) {
  if (!is_type(type)) return false;
  const reduction::Elements& elements = reduction::elements_of(type);
  return !elements.has_rest(bytes) && has_elements(from, bytes, elements) &&
         has_elements(result, bytes, elements);
}

// Elements of the caller side by side: where they lie already, or in a copy.
class Packed {
 public:
  // `buffer`: nullptr: there are none. Its runs have whole elements.
  Packed(const nagaya_window_buffer* buffer, const reduction::Elements& elements);

  bool lacks_memory() const { return has_copy() && copy_ == nullptr; }
  bool has_copy() const { return is_in_runs(buffer_); }
  std::byte* data() const {
    if (has_copy()) return copy_.get();
    return buffer_ == nullptr ? nullptr : static_cast<std::byte*>(buffer_->first);
  }
  void pack() const;
  void unpack() const;

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  template <class Move>
  void for_each_run(Move move) const;

  const nagaya_window_buffer* buffer_;
  const reduction::Elements& elements_;
  std::unique_ptr<std::byte, Free> copy_;
};

}  // namespace nagaya::window
