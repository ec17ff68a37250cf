// SPDX-License-Identifier: BSD-3-Clause
#include "window/remote_attachments.h"

#include <errno.h>

#include <algorithm>

namespace nagaya::window {
namespace {

constexpr uint64_t kFirstCapacity = 16;

auto first_behind(auto& regions, uint64_t address) {
  return std::ranges::upper_bound(regions, address, {}, &AttachedRegion::begin);
}

}  // namespace

PublishedAttachments::~PublishedAttachments() {
  for (const AttachedRegion& one : regions_) {
    const nagaya_remote place{lists_.back().place.process, one.region, 0, 0};
    ::nagaya_llcl_deregister(&place);
  }
  for (const List& list : lists_) ::nagaya_llcl_deregister(&list.place);
}

// Makes the two lists that are used from now on. Returns 0 or an error: then nothing has changed.
int PublishedAttachments::make_lists(uint64_t capacity) {
  const uint64_t bytes = sizeof(AttachedList) + capacity * sizeof(AttachedRegion);
  lists_.reserve(lists_.size() + 2);
  List made[2];
  for (List& one : made) one.words = std::make_unique<uint64_t[]>(bytes / sizeof(uint64_t));
  for (List& one : made) {
    if (const int error = ::nagaya_llcl_register(one.words.get(), bytes, &one.place); error != 0) {
      if (&one == &made[1]) ::nagaya_llcl_deregister(&made[0].place);
      return error;
    }
    one.list().capacity = capacity;
  }
  for (List& one : made) lists_.push_back(std::move(one));
  return 0;
}

void PublishedAttachments::publish() {
  const uint64_t version = (word_.load(std::memory_order_relaxed) + 1) & UINT32_MAX;
  const List& next = lists_[lists_.size() - 1 - version % 2];
  next.list().count = regions_.size();
  std::ranges::copy(regions_, next.list().regions);
  // The list is there before the word. Pairs with the request by which a reader loads it.
  word_.store(uint64_t{next.place.region} << 32 | version, std::memory_order_seq_cst);
}

int PublishedAttachments::attach(void* base, uint64_t bytes) {
  const uint64_t capacity = lists_.empty() ? 0 : lists_.back().list().capacity;
  regions_.reserve(regions_.size() + 1);
  if (regions_.size() == capacity)
    if (const int error = make_lists(std::max(kFirstCapacity, 2 * capacity)); error != 0)
      return error;
  nagaya_remote place;
  if (const int error = ::nagaya_llcl_register(base, bytes, &place); error != 0) return error;
  const auto begin = reinterpret_cast<uint64_t>(base);
  regions_.insert(first_behind(regions_, begin), {begin, begin + bytes, place.region, 0});
  publish();
  return 0;
}

void PublishedAttachments::detach(const void* base) {
  const auto found =
      std::ranges::find(regions_, reinterpret_cast<uint64_t>(base), &AttachedRegion::begin);
  if (found == regions_.end()) return;
  const nagaya_remote place{lists_.back().place.process, found->region, 0, 0};
  regions_.erase(found);
  publish();
  ::nagaya_llcl_deregister(&place);
}

const AttachedRegion* FoundAttachments::find(uint64_t begin, uint64_t bytes) const {
  const auto behind = first_behind(regions_, begin);
  if (behind == regions_.begin()) return nullptr;
  const AttachedRegion& region = *std::prev(behind);
  return begin < region.end && bytes <= region.end - begin ? &region : nullptr;
}

}  // namespace nagaya::window
