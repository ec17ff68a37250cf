// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/asynchronous.h"

#include <algorithm>
#include <map>
#include <utility>

#include "faces/xmp/runtime/reference.h"
#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {
namespace {

// Operations by tag; those of one tag are in the order in which they were started.
using Pending = std::multimap<long, std::unique_ptr<Asynchronous>>;

Pending& pending_operations() {
  static auto* const all = new Pending;
  return *all;
}

}  // namespace

void add_operation(long tag, std::unique_ptr<Asynchronous> operation) {
  pending_operations().emplace(tag, std::move(operation));
}

void complete_tag(const char* where, long tag) {
  const auto [begin, end] = pending_operations().equal_range(tag);
  for (auto one = begin; one != end; ++one) one->second->wait(where);
  pending_operations().erase(begin, end);
}

bool poll_tag(long tag) {
  auto [one, end] = pending_operations().equal_range(tag);
  while (one != end && one->second->is_complete()) one = pending_operations().erase(one);
  return one == end;
}

bool has_reflect_of(const nagaya_xmp_array_state& array) {
  return std::ranges::any_of(pending_operations(),
                             [&](const auto& one) { return one.second->is_reflect_of(array); });
}

void complete_reflect_of(const nagaya_xmp_array_state& array) {
  std::erase_if(pending_operations(), [&](const auto& one) {
    if (!one.second->is_reflect_of(array)) return false;
    one.second->wait("");
    return true;
  });
}

void complete_all() {
  for (auto& [tag, one] : pending_operations()) one->wait("");
  pending_operations().clear();
}

}  // namespace nagaya::xmp

void nagaya_xmp_wait_async(const char* where, int count, const long* async,
                           const nagaya_xmp_on* on) {
  if (!nagaya::xmp::has_caller(where, on)) return;
  for (int n = 0; n < count; ++n) nagaya::xmp::complete_tag(where, async[n]);
}
