// SPDX-License-Identifier: BSD-3-Clause
// accumulate_api.cc - the accumulates of nagaya/llcl.h.
#include <bit>
#include <cerrno>
#include <cstring>

#include "llcl/board/accumulate.h"
#include "llcl/board/target_elements.h"
#include "llcl/requests/endpoint.h"
#include "llcl/requests/prepare.h"
#include "llcl/requests/refusal.h"
#include "reduction/reductions.h"

namespace nagaya::llcl {
namespace {

bool is_possible(const nagaya_llcl_accumulation& what) {
  return reduction::is_defined(what.type, what.operation) && what.target == nullptr &&
         what.count <= Command::Elements::kCountMax &&
         (what.count == 0 || what.origin != nullptr || what.operation == NAGAYA_REDUCE_NO_OP);
}

[[gnu::cold]] int refuse_runs() {
  return refuse(-EINVAL, "target_runs: a run is empty, is not of whole elements, or cannot be");
}

[[gnu::cold]] int refuse_accumulation(const nagaya_llcl_accumulation& what) {
  if (!reduction::is_defined(what.type, what.operation))
    return refuse(-EINVAL, "no accumulate has operation %u with type %u",
                  static_cast<unsigned>(what.operation), static_cast<unsigned>(what.type));
  if (what.target_runs != nullptr) return refuse_runs();
  return refuse(-EINVAL, "count is %zu: the target or the origin is missing, or it has fewer",
                what.count);
}

[[gnu::cold]] int refuse_compare_swap(size_t bytes) {
  return refuse(-EINVAL, "a compare-and-swap has 1, 2, 4 or 8 bytes, not %zu, and no NULL", bytes);
}

TargetElements target_of(const nagaya_llcl_remote_accumulation& all) {
  const uint64_t extent = reduction::elements_of(all.what.type).extent;
  return {all.what.target_runs, all.remote.offset, extent, all.what.count * extent};
}

// Calls check(span) for each part of the elements; `span`: the part's memory in the region. Returns
// the first error of the parts or of check(); 0.
template <class Check>
int check_parts(const TargetElements& target, Check check) {
  int error = 0;
  layout::PieceCursor at{};
  for (uint64_t left = target.bytes; error == 0 && left != 0;) {
    TargetElements::Part part;
    error = target.cut(left, left, at, &part);
    if (error != 0) return refuse_runs();
    left -= part.bytes();
    error = check(part.span());
  }
  return error;
}

int accumulate_here(const Endpoint& self, const nagaya_llcl_remote_accumulation& all) {
  nagaya_remote place = all.remote;
  place.offset = 0;
  const Found region = self.find(place, 0);
  if (region.error != 0) return refuse_place(self, place, 0);
  const int error = check_parts(target_of(all), [&](const layout::Span& span) {
    place.offset = span.first;
    return self.find(place, span.bytes).error == 0 ? 0 : refuse_place(self, place, span.bytes);
  });
  if (error != 0) return error;
  nagaya_llcl_accumulation what = all.what;
  what.target = region.address + all.remote.offset;
  accumulate(self.board(), self.owner(), what);  // it cannot fail after these checks
  complete(all.on_complete, 0);
  return 0;
}

int accumulate_there(Endpoint& self, const nagaya_llcl_remote_accumulation& all) {
  const nagaya_llcl_accumulation& what = all.what;
  const TargetElements target = target_of(all);
  const bool has_origin = what.operation != NAGAYA_REDUCE_NO_OP;
  int error = require_place(all.remote);
  if (error == 0 && has_origin) error = require_local(self, what.origin, target.bytes);
  if (error == 0 && what.result != nullptr) error = require_local(self, what.result, target.bytes);
  if (error == 0) error = check_parts(target, [](const layout::Span&) { return 0; });
  if (error != 0) return error;
  return submit(self, all.remote.process.node, all.on_complete, [&](Command& command) {
    set_place(&command, Op::kAccumulate, all.remote);
    command.data.elements = Command::Elements::of(what);
  });
}

int compare_swap_here(const Endpoint& self, const nagaya_llcl_remote_compare_swap& what) {
  const Found word = self.find(what.remote, what.bytes);
  if (word.error != 0) return refuse_place(self, what.remote, what.bytes);
  compare_swap(self.board(), self.owner(),
               {word.address, what.bytes, what.expected, what.desired, what.before});
  complete(what.on_complete, 0);
  return 0;
}

int compare_swap_there(Endpoint& self, const nagaya_llcl_remote_compare_swap& what) {
  int error = require_place(what.remote);
  if (error == 0) error = require_local(self, what.before, what.bytes);
  if (error != 0) return error;
  return submit(self, what.remote.process.node, what.on_complete, [&](Command& command) {
    set_place(&command, Op::kCompareSwap, what.remote);
    Command::Word& word = command.data.word;
    word = {reinterpret_cast<uint64_t>(what.before), what.bytes, 0, 0};
    std::memcpy(&word.operand, what.desired, what.bytes);
    std::memcpy(&word.expected, what.expected, what.bytes);
  });
}

}  // namespace
}  // namespace nagaya::llcl

using namespace nagaya::llcl;

int nagaya_llcl_accumulate(const nagaya_llcl_accumulation* accumulation) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (accumulation == nullptr) return refuse_null("the accumulation");
  const int error = accumulate(self->board(), self->owner(), *accumulation);
  return error == 0 ? 0 : refuse_accumulation(*accumulation);
}

int nagaya_llcl_compare_swap(void* target, size_t bytes, const void* expected, const void* desired,
                             void* before) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  const int error =
      compare_swap(self->board(), self->owner(), {target, bytes, expected, desired, before});
  return error == 0 ? 0 : refuse_compare_swap(bytes);
}

int nagaya_llcl_try_accumulate(const nagaya_llcl_remote_accumulation* all) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (all == nullptr) return refuse_null("the accumulation");
  if (!is_valid(all->on_complete)) return refuse_completion(all->on_complete);
  if (!is_possible(all->what)) return refuse_accumulation(all->what);
  return self->is_here(all->remote.process) ? accumulate_here(*self, *all)
                                            : accumulate_there(*self, *all);
}

int nagaya_llcl_try_compare_swap(const nagaya_llcl_remote_compare_swap* what) {
  Endpoint* const self = Endpoint::own();
  if (self == nullptr) return refuse_outside();
  if (what == nullptr) return refuse_null("the request");
  if (!is_valid(what->on_complete)) return refuse_completion(what->on_complete);
  if (!std::has_single_bit(what->bytes) || what->bytes > sizeof(uint64_t) ||
      what->expected == nullptr || what->desired == nullptr || what->before == nullptr)
    return refuse_compare_swap(what->bytes);
  return self->is_here(what->remote.process) ? compare_swap_here(*self, *what)
                                             : compare_swap_there(*self, *what);
}
