// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/asynchronous.h"

#include <algorithm>
#include <map>
#include <utility>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/reference.h"
#include "faces/xmp/runtime/translated.h"

namespace nagaya::xmp {
namespace {

// In the order in which they were started.
using UnderWay = std::multimap<long, std::unique_ptr<Asynchronous>>;

UnderWay& under_way() {
  static auto* const all = new UnderWay;
  return *all;
}

}  // namespace

void add(long tag, std::unique_ptr<Asynchronous> operation) {
  under_way().emplace(tag, std::move(operation));
}

void complete(const char* where, long tag) {
  const auto [begin, end] = under_way().equal_range(tag);
  for (auto one = begin; one != end; ++one) one->second->wait(where);
  under_way().erase(begin, end);
}

bool test(long tag) {
  auto [one, end] = under_way().equal_range(tag);
  while (one != end && one->second->is_complete()) one = under_way().erase(one);
  return one == end;
}

bool has_reflect_of(const nagaya_xmp_array_state& array) {
  return std::ranges::any_of(under_way(),
                             [&](const auto& one) { return one.second->is_reflect_of(array); });
}

void complete_reflect_of(const nagaya_xmp_array_state& array) {
  for (auto one = under_way().begin(); one != under_way().end();)
    if (one->second->is_reflect_of(array)) {
      one->second->wait("");
      one = under_way().erase(one);
    } else {
      ++one;
    }
}

void complete_all() {
  for (auto& [tag, one] : under_way()) one->wait("");
  under_way().clear();
}

}  // namespace nagaya::xmp

void nagaya_xmp_wait_async(const char* where, int count, const long* async,
                           const nagaya_xmp_on* on) {
  using nagaya::xmp::ProcessSet;
  const ProcessSet* const set = nagaya::xmp::set_of(where, on);
  if (set == nullptr || !set->has_caller()) return;
  for (int n = 0; n < count; ++n) nagaya::xmp::complete(where, async[n]);
}
