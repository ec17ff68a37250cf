// SPDX-License-Identifier: BSD-3-Clause
// parts.cc - assignments between sections of coarrays: copies of the caller in a machine, requests
// of the window to others.
#include <cstring>
#include <string>
#include <vector>

#include "faces/xmp/runtime/coarrays.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {
namespace {

// Equal runs of bytes in a grid: those along the last dimension are the closest.
struct Grid {
  struct Dimension {
    long length, stride;
  };
  char* first = nullptr;
  unsigned long run_bytes = 0;
  std::vector<Dimension> dimensions;

  unsigned long count() const {
    unsigned long all = 1;
    for (const Dimension& one : dimensions) all *= static_cast<unsigned long>(one.length);
    return all;
  }
  unsigned long bytes() const { return count() * run_bytes; }
  // Calls visit(address) for each run.
  template <class Visit>
  void for_each_run(Visit visit, size_t d = 0, char* at = nullptr) const {
    if (d == 0) at = first;
    if (d == dimensions.size()) return visit(at);
    for (long i = 0; i < dimensions[d].length; ++i, at += dimensions[d].stride)
      for_each_run(visit, d + 1, at);
  }
  // The addresses from the lowest byte to behind the highest.
  std::pair<char*, char*> reach() const {
    char *low = first, *high = first + run_bytes;
    for (const Dimension& one : dimensions)
      (one.stride < 0 ? low : high) += one.stride * (one.length - 1);
    return {low, high};
  }
};

Grid grid_of(const nagaya_xmp_part& part, unsigned long element_bytes) {
  Grid grid{static_cast<char*>(part.first), element_bytes, {}};
  for (int n = 0; n < part.sections; ++n)
    if (part.length[n] != 1) grid.dimensions.push_back({part.length[n], part.stride[n]});
  while (!grid.dimensions.empty() &&
         grid.dimensions.back().stride == static_cast<long>(grid.run_bytes)) {
    grid.run_bytes *= static_cast<unsigned long>(grid.dimensions.back().length);
    grid.dimensions.pop_back();
  }
  return grid;
}

void pack(const Grid& from, char* to) {
  from.for_each_run([&](const char* run) {
    std::memcpy(to, run, from.run_bytes);
    to += from.run_bytes;
  });
}

void unpack(const char* from, const Grid& to) {
  to.for_each_run([&](char* run) {
    std::memcpy(run, from, to.run_bytes);
    from += to.run_bytes;
  });
}

bool may_overlap(const Grid& a, const Grid& b) {
  const auto [a_low, a_high] = a.reach();
  const auto [b_low, b_high] = b.reach();
  return a_low < b_high && b_low < a_high;
}

// The bytes of a grid side by side: where they are, or in a copy.
class Packed {
 public:
  explicit Packed(const Grid& grid) : grid_(grid) {
    if (!grid.dimensions.empty()) copy_.resize(grid.bytes());
  }
  char* data() { return copy_.empty() ? grid_.first : copy_.data(); }
  void pack() {
    if (!copy_.empty()) xmp::pack(grid_, copy_.data());
  }
  void unpack() {
    if (!copy_.empty()) xmp::unpack(copy_.data(), grid_);
  }

 private:
  const Grid& grid_;
  std::vector<char> copy_;
};

// Copies between the caller's memory at `own` and a grid of an image on another machine.
void transfer(const char* where, bool is_put, const nagaya_xmp_part& part, const Grid& grid,
              char* own) {
  const nagaya_xmp_coarray_state& coarray = *part.coarray->state;
  Grid outer = grid;
  Grid::Dimension inner = {1, static_cast<long>(grid.run_bytes)};
  if (!outer.dimensions.empty()) {
    inner = outer.dimensions.back();
    outer.dimensions.pop_back();
  }
  std::vector<nagaya_runs> runs;
  outer.for_each_run([&](char* first) {
    runs.push_back({reinterpret_cast<void*>(first - coarray.own), grid.run_bytes,
                    static_cast<size_t>(inner.length), inner.stride});
  });
  const nagaya_window_buffer here = {own, grid.bytes(), nullptr, 0};
  const nagaya_window_target there = {
      coarray.rank_of(where, part.image), 0, {nullptr, grid.bytes(), runs.data(), runs.size()}};
  int error = is_put ? nagaya_window_put(coarray.window, &here, &there)
                     : nagaya_window_get(coarray.window, &here, &there);
  if (error == 0) error = nagaya_window_flush(coarray.window, there.rank);
  if (error != 0)
    fail(where, "an access to coarray " + coarray.name + " has failed: " + reason_of(error));
}

// Finds the image's memory. Returns false: it is on another machine.
bool find(const char* where, const nagaya_xmp_part& part, Grid& grid) {
  if (part.coarray == nullptr) return true;
  const auto [low, high] = grid.reach();
  const nagaya_xmp_coarray_state& coarray = *part.coarray->state;
  if (low < coarray.own || high > coarray.own + coarray.bytes)
    fail(where, "a section of coarray " + coarray.name + " is outside of it");
  void* const there = nagaya_xmp_behind(grid.first, nagaya_xmp_offset(part.coarray, part.image));
  if (there == nullptr) return false;
  grid.first = static_cast<char*>(there);
  return true;
}

// Gives a grid the dimensions of another one of the same elements, which has shorter runs.
void split_runs(Grid& grid, const Grid& other) {
  for (size_t d = grid.dimensions.size(); d < other.dimensions.size(); ++d) {
    const long length = other.dimensions[d].length;
    grid.run_bytes /= static_cast<unsigned long>(length);
    grid.dimensions.push_back({length, static_cast<long>(grid.run_bytes)});
  }
}

// Copies between grids of the same dimensions that do not overlap.
void copy_runs(const Grid& to, char* to_run, const Grid& from, const char* from_run, size_t d) {
  if (d == to.dimensions.size()) {
    std::memcpy(to_run, from_run, to.run_bytes);
    return;
  }
  for (long i = 0; i < to.dimensions[d].length; ++i) {
    copy_runs(to, to_run, from, from_run, d + 1);
    to_run += to.dimensions[d].stride;
    from_run += from.dimensions[d].stride;
  }
}

void copy_here(Grid to, Grid from) {
  if (to.dimensions.empty() && from.dimensions.empty()) {
    std::memmove(to.first, from.first, to.run_bytes);
  } else if (!may_overlap(to, from)) {
    split_runs(to, from);
    split_runs(from, to);
    copy_runs(to, to.first, from, from.first, 0);
  } else {
    std::vector<char> all(from.bytes());
    pack(from, all.data());
    unpack(all.data(), to);
  }
}

std::string text_of(const nagaya_xmp_part& part) {
  std::string text;
  for (int n = 0; n < part.sections; ++n)
    if (part.length[n] != 1) text += (text.empty() ? "" : " x ") + std::to_string(part.length[n]);
  return text.empty() ? "1" : text;
}

void fill_run(char* run, unsigned long bytes, const char* element, unsigned long element_bytes) {
  for (unsigned long at = 0; at < bytes; at += element_bytes)
    std::memmove(run + at, element, element_bytes);
}

// Fills all of `to` with one element.
void fill(const char* where, const nagaya_xmp_part& part, const char* element, Grid to,
          unsigned long element_bytes) {
  if (find(where, part, to))
    return to.for_each_run([&](char* run) { fill_run(run, to.run_bytes, element, element_bytes); });
  std::vector<char> all(to.bytes());
  fill_run(all.data(), all.size(), element, element_bytes);
  transfer(where, true, part, to, all.data());
}

}  // namespace
}  // namespace nagaya::xmp

void nagaya_xmp_assign(const char* where, const nagaya_xmp_part* to, const nagaya_xmp_part* from,
                       unsigned long element_bytes) {
  using namespace nagaya::xmp;
  for (const nagaya_xmp_part* part : {to, from})
    for (int n = 0; n < part->sections; ++n) {
      if (part->length[n] < 0) fail(where, "a section has a negative length, or a step of 0");
      if (part->length[n] == 0) return;
    }
  Grid target = grid_of(*to, element_bytes), source = grid_of(*from, element_bytes);
  if (from->sections == 0)
    return fill(where, *to, static_cast<const char*>(from->first), target, element_bytes);
  if (text_of(*to) != text_of(*from))
    fail(where, "the sections differ: " + text_of(*to) + " elements, and " + text_of(*from));
  const bool has_target = find(where, *to, target), has_source = find(where, *from, source);
  if (has_target && has_source) return copy_here(target, source);
  if (has_source) {
    Packed packed(source);
    packed.pack();
    return transfer(where, true, *to, target, packed.data());
  }
  if (has_target) {
    Packed packed(target);
    transfer(where, false, *from, source, packed.data());
    return packed.unpack();
  }
  std::vector<char> all(source.bytes());
  transfer(where, false, *from, source, all.data());
  transfer(where, true, *to, target, all.data());
}
