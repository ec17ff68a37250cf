// SPDX-License-Identifier: BSD-3-Clause
#include "objects/layout.h"

#include <algorithm>
#include <cstdint>

#include "layout/runs.h"

namespace nagaya::mpi {
namespace {

// A layout with more groups is not copied into another one, but shared by it.
constexpr size_t kCopiedGroupsMax = 8;

// Also right for a null base and an offset that is an address.
std::byte* moved(void* base, ptrdiff_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(base) +
                                      static_cast<uintptr_t>(offset));
}

}  // namespace

// ---- finding bytes ----------------------------------------------------------------------------

template <class Each>
bool Layout::visit(const Group& group, void* base, size_t first, size_t bytes, const Each& each) {
  size_t n = first / group.bytes, skipped = first % group.bytes;
  while (bytes != 0) {
    std::byte* const copy = moved(base, group.offset + static_cast<ptrdiff_t>(n) * group.stride);
    const size_t part = std::min(group.bytes - skipped, bytes);
    size_t copies = 1;
    if (group.inner != nullptr) {
      if (!group.inner->visit(copy, skipped, part, each)) return false;
    } else {
      if (part == group.bytes) copies = bytes / part;
      if (!each(copy + skipped, group.stride, copies, part)) return false;
    }
    n += copies;
    bytes -= copies * part;
    skipped = 0;
  }
  return true;
}

template <class Each>
bool Layout::visit(void* base, size_t first, size_t bytes, const Each& each) const {
  auto group =
      std::prev(std::upper_bound(groups_.begin(), groups_.end(), first,
                                 [](size_t byte, const Group& one) { return byte < one.before; }));
  for (; bytes != 0; ++group) {
    const size_t skipped = first - group->before, part = std::min(bytes, group->total() - skipped);
    if (!visit(*group, base, skipped, part, each)) return false;
    first += part;
    bytes -= part;
  }
  return true;
}

Layout::Group Layout::group_of(size_t count, ptrdiff_t extent) const {
  // The pointer owns nothing: the layout outlives the group.
  return simplified({0, count, extent, bytes_, SharedLayout(SharedLayout(), this), 0});
}

bool Layout::is_one_run(size_t count, ptrdiff_t extent) const {
  if (count == 0 || bytes_ == 0) return true;
  const Group all = group_of(count, extent);
  return all.inner == nullptr && all.count == 1;
}

// Stores groups of runs, and joins each with the one before if it goes on by its stride.
class Layout::RunList {
 public:
  RunList(nagaya_runs* runs, size_t most) : runs_(runs), most_(most) {}

  // Returns false if there is no room.
  bool add(std::byte* first, ptrdiff_t stride, size_t copies, size_t bytes) {
    const Group next{reinterpret_cast<ptrdiff_t>(first), copies, stride, bytes, nullptr, 0};
    if (used_ == 0 || !last_.join(next)) {
      if (used_ == most_) return false;
      last_ = next;
      ++used_;
    }
    runs_[used_ - 1] = {reinterpret_cast<void*>(last_.offset), last_.bytes, last_.count,
                        last_.stride};
    return true;
  }
  size_t size() const { return used_; }

 private:
  nagaya_runs* const runs_;
  const size_t most_;
  size_t used_ = 0;
  Group last_{};
};

size_t Layout::describe(void* buffer, size_t count, ptrdiff_t extent, nagaya_runs* runs,
                        size_t most) const {
  if (count == 0 || bytes_ == 0) return 0;
  const Group all = group_of(count, extent);
  RunList list(runs, most);
  const auto add = [&list](std::byte* first, ptrdiff_t stride, size_t copies, size_t bytes) {
    return list.add(first, stride, copies, bytes);
  };
  return visit(all, buffer, 0, all.total(), add) ? list.size() : 0;
}

size_t Layout::describe_items(void* buffer, size_t count, ptrdiff_t extent, size_t data_bytes,
                              size_t item_bytes, nagaya_runs* runs, size_t most) const {
  const Group all = group_of(count, extent);
  RunList list(runs, most);
  for (size_t byte = 0; byte != all.total(); byte += data_bytes) {
    std::byte* item = nullptr;
    visit(all, buffer, byte, data_bytes, [&item](std::byte* first, ptrdiff_t, size_t, size_t) {
      item = first;
      return false;
    });
    if (!list.add(item, 0, 1, item_bytes)) return 0;
  }
  return list.size();
}

void Layout::pack(const void* buffer, ptrdiff_t extent, size_t first, size_t bytes,
                  void* to) const {
  if (bytes == 0) return;
  auto* packed = static_cast<std::byte*>(to);
  const auto copy = [&packed](std::byte* from, ptrdiff_t stride, size_t count, size_t each) {
    layout::copy_parts({packed, static_cast<ptrdiff_t>(each), count}, {from, stride, count}, count,
                       each);
    packed += count * each;
    return true;
  };
  visit(group_up_to(first + bytes, extent), const_cast<void*>(buffer), first, bytes, copy);
}

void Layout::unpack(void* buffer, ptrdiff_t extent, size_t first, size_t bytes,
                    const void* from) const {
  if (bytes == 0) return;
  auto* packed = static_cast<std::byte*>(const_cast<void*>(from));
  const auto copy = [&packed](std::byte* to, ptrdiff_t stride, size_t count, size_t each) {
    layout::copy_parts({to, stride, count}, {packed, static_cast<ptrdiff_t>(each), count}, count,
                       each);
    packed += count * each;
    return true;
  };
  visit(group_up_to(first + bytes, extent), buffer, first, bytes, copy);
}

// ---- building ---------------------------------------------------------------------------------

bool Layout::Group::join(const Group& next) {
  if (count == 1 && next.count == 1 && inner == nullptr && next.inner == nullptr &&
      offset + static_cast<ptrdiff_t>(bytes) == next.offset) {
    bytes += next.bytes;
    return true;
  }
  const ptrdiff_t step = count == 1 ? next.offset - offset : stride;
  if (inner != next.inner || bytes != next.bytes ||
      offset + static_cast<ptrdiff_t>(count) * step != next.offset ||
      (next.count > 1 && next.stride != step))
    return false;
  stride = step;
  count += next.count;
  return true;
}

Layout::Group Layout::simplified(Group group) {
  while (group.inner != nullptr && group.inner->groups_.size() == 1) {
    const Group& only = group.inner->groups_[0];
    const bool is_joined = group.count > 1 && only.count > 1;
    if (is_joined && group.stride != static_cast<ptrdiff_t>(only.count) * only.stride) break;
    const ptrdiff_t stride = only.count > 1 ? only.stride : group.stride;
    group = {
        group.offset + only.offset, group.count * only.count, stride, only.bytes, only.inner, 0};
  }
  if (group.inner == nullptr && group.stride == static_cast<ptrdiff_t>(group.bytes))
    group = {group.offset, 1, 0, group.total(), nullptr, 0};
  if (group.count == 1) group.stride = 0;
  return group;
}

void LayoutBuilder::add_runs(ptrdiff_t offset, size_t bytes, size_t count, ptrdiff_t stride) {
  add({offset, count, stride, bytes, nullptr, 0});
}

void LayoutBuilder::add(ptrdiff_t offset, const SharedLayout& layout, size_t count,
                        ptrdiff_t stride) {
  if (count == 1 && layout->groups_.size() <= kCopiedGroupsMax) {
    for (Layout::Group group : layout->groups_) {
      group.offset += offset;
      add(std::move(group));
    }
  } else {
    add({offset, count, stride, layout->bytes_, layout, 0});
  }
}

void LayoutBuilder::add(Layout::Group group) {
  if (group.count == 0 || group.bytes == 0) return;
  group = Layout::simplified(std::move(group));
  Layout& layout = *layout_;
  const ptrdiff_t reach = static_cast<ptrdiff_t>(group.count - 1) * group.stride;
  const ptrdiff_t inner_low = group.inner != nullptr ? group.inner->low_ : 0;
  const ptrdiff_t inner_high =
      group.inner != nullptr ? group.inner->high_ : static_cast<ptrdiff_t>(group.bytes);
  const ptrdiff_t low = group.offset + inner_low + std::min<ptrdiff_t>(reach, 0);
  const ptrdiff_t high = group.offset + inner_high + std::max<ptrdiff_t>(reach, 0);
  layout.low_ = layout.bytes_ == 0 ? low : std::min(layout.low_, low);
  layout.high_ = layout.bytes_ == 0 ? high : std::max(layout.high_, high);
  group.before = layout.bytes_;
  layout.bytes_ += group.total();
  if (layout.groups_.empty() || !layout.groups_.back().join(group))
    layout.groups_.push_back(std::move(group));
}

SharedLayout LayoutBuilder::finish() {
  layout_->groups_.shrink_to_fit();
  return std::move(layout_);
}

}  // namespace nagaya::mpi
