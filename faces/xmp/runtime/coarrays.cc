// SPDX-License-Identifier: BSD-3-Clause
#include "faces/xmp/runtime/coarrays.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <memory>

#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/images.h"
#include "faces/xmp/runtime/job.h"
#include "faces/xmp/runtime/nodes.h"
#include "xmp/xmp.h"

using State = nagaya_xmp_coarray_state;

namespace nagaya::xmp {
namespace {

// Contexts of windows: an MPI in the same program uses lower ones.
constexpr uint64_t kFirstContext = NAGAYA_TEAMS_WINDOWS >> 1;

std::vector<std::unique_ptr<State>>& coarrays() {
  static auto* const all = new std::vector<std::unique_ptr<State>>;
  return *all;
}

void check(const char* where, const State& coarray, const char* what, int error) {
  if (error != 0) xmp::check(where, what + (" coarray " + coarray.name), error);
}

// The place of an access in the coarray.
nagaya_window_target target_of(const char* where, const nagaya_xmp_coarray& coarray,
                               const volatile void* place, long image, unsigned long bytes) {
  const auto at = static_cast<uint64_t>(static_cast<const volatile char*>(place) - coarray.own);
  return {state_of(where, coarray).rank_of(where, image), at, {nullptr, bytes, nullptr, 0}};
}

void find_offsets(const State& coarray, const ProcessSet& set, std::vector<long>& offsets) {
  for (uint32_t image = 0; image < set.size(); ++image) {
    nagaya_window_part part{coarray.own, 0, 0};
    if (coarray.window != nullptr)
      check(nullptr, coarray, "finding",
            nagaya_window_part_of(coarray.window, set.job_rank(image), &part));
    offsets.push_back(part.base == nullptr ? LONG_MIN
                                           : static_cast<char*>(part.base) - coarray.own);
  }
}

bool is_same(const State& coarray, const State& other) {
  return coarray.bytes == other.bytes && coarray.extents == other.extents && coarray.on == other.on;
}

void open(const char* where, State& coarray, unsigned long locks) {
  coarray.window = open_window(where, coarray.own, coarray.bytes);
  coarray.lock_count = locks;
  coarray.held_alone.resize(locks);
  if (coarray.window == nullptr) return;
  check(where, coarray, "opening", nagaya_window_lock_all(coarray.window, NAGAYA_WINDOW_NO_CHECK));
  for (unsigned long n = 0; n < locks; ++n) coarray.locks.push_back(open_window(where, nullptr, 0));
}

}  // namespace

nagaya_window* open_window(const char* where, void* own, unsigned long bytes) {
  static uint64_t windows = 0;
  if (Job::own().size() == 1) return nullptr;
  const nagaya_window_memory memory = {NAGAYA_WINDOW_CREATE, own, bytes, 1, 0, 0};
  nagaya_window* window = nullptr;
  const int error = nagaya_window_open(kFirstContext | ++windows, ProcessSet::world().members(),
                                       &memory, 0, &window);
  if (error != 0) fail(where, "nagaya_window_open() says " + reason_of(error));
  return window;
}

State& state_of(const char* where, const nagaya_xmp_coarray& coarray) {
  if (coarray.state == nullptr) fail(where, "a coarray is used before the program has begun");
  return *coarray.state;
}

void forget_images() {
  for (const auto& coarray : coarrays())
    for (nagaya_xmp_coarray* descriptor : coarray->descriptors) descriptor->count = 0;
}

void close_coarrays() {
  // An image that has a lock must not begin to close: the others would wait for it for ever.
  for (const auto& coarray : coarrays())
    for (const nagaya_window* lock : coarray->locks)
      if (nagaya_window_has_epoch(lock) == 1)
        fail(nullptr, "lock " + coarray->name + " is still locked at the end of the program");
  end_images(!coarrays().empty());
  for (const auto& coarray : coarrays()) {
    for (nagaya_window* lock : coarray->locks)
      check(nullptr, *coarray, "closing a lock of", nagaya_window_close(lock));
    if (coarray->window == nullptr) continue;
    nagaya_window_unlock_all(coarray->window);
    check(nullptr, *coarray, "closing", nagaya_window_close(coarray->window));
  }
  coarrays().clear();
}

}  // namespace nagaya::xmp

using namespace nagaya::xmp;

const ProcessSet& State::images() const {
  return on != nullptr ? *on : Executing::now();
}

uint32_t State::rank_of(const char* where, long image) const {
  Job::own().check_takes_part(where);
  return rank_of_image(where, images(), image, ("coarray " + name).c_str());
}

void nagaya_xmp_declare_coarray(const char* where, nagaya_xmp_coarray* coarray, const char* name,
                                void* own, unsigned long bytes, unsigned long locks,
                                int codimensions, const long* extents, const nagaya_xmp_nodes* on) {
  auto declared = std::make_unique<State>();
  declared->name = name;
  declared->own = static_cast<char*>(own);
  declared->bytes = bytes;
  declared->extents.assign(extents, extents + codimensions - 1);
  for (const long extent : declared->extents)
    if (extent < 1)
      fail(where, "coarray " + declared->name + ": a codimension is " + std::to_string(extent) +
                      "; it must be at least 1");
  if (on != nullptr) declared->on = &on->set;
  const auto found = std::ranges::find(coarrays(), own, [](const auto& one) { return one->own; });
  if (found != coarrays().end()) {
    if (!is_same(**found, *declared))
      fail(where, "coarray " + declared->name +
                      ": another file declares it with another size, codimension or nodes");
    coarray->state = found->get();
  } else {
    open(where, *declared, locks);
    coarray->state = declared.get();
    coarrays().push_back(std::move(declared));
  }
  coarray->own = static_cast<char*>(own);
  coarray->state->descriptors.push_back(coarray);
}

long nagaya_xmp_find_offset(nagaya_xmp_coarray* coarray, long image) {
  if (coarray->state == nullptr || !Job::own().takes_part()) return LONG_MIN;
  State& state = *coarray->state;
  const ProcessSet& set = state.images();
  std::vector<long>& offsets = state.offsets[&set];
  if (offsets.empty()) find_offsets(state, set, offsets);
  coarray->offset = offsets.data();
  coarray->count = offsets.size();
  return static_cast<unsigned long>(image) < coarray->count ? coarray->offset[image] : LONG_MIN;
}

long nagaya_xmp_image_of(const char* where, const nagaya_xmp_coarray* coarray, int count,
                         const long* index) {
  const State& state = state_of(where, *coarray);
  if (static_cast<size_t>(count) != state.extents.size() + 1)
    fail(where, "coarray " + state.name + " has " + std::to_string(state.extents.size() + 1) +
                    " codimensions, the reference has " + std::to_string(count));
  long image = 0, distance = 1;
  for (size_t d = 0; d < static_cast<size_t>(count); ++d) {
    const bool is_last = d == state.extents.size();
    if (index[d] < 0 || (!is_last && index[d] >= state.extents[d]))
      fail(where, "coarray " + state.name + ": the index " + std::to_string(index[d]) +
                      " of codimension " + std::to_string(d + 1) + " is outside of it");
    image += distance * index[d];
    if (!is_last) distance *= state.extents[d];
  }
  return image;
}

long nagaya_xmp_own_image(const nagaya_xmp_coarray* coarray) {
  return state_of(nullptr, *coarray).images().own_index();
}

void* nagaya_xmp_get(const char* where, nagaya_xmp_coarray* coarray, const volatile void* place,
                     long image, unsigned long bytes) {
  static auto* const value = new std::vector<std::max_align_t>;
  value->resize(bytes / sizeof(std::max_align_t) + 1);
  const nagaya_window_target from = target_of(where, *coarray, place, image, bytes);
  const nagaya_window_buffer to = {value->data(), bytes, nullptr, 0};
  const State& state = *coarray->state;
  check(where, state, "a get from", nagaya_window_get(state.window, &to, &from));
  check(where, state, "a get from", nagaya_window_flush(state.window, from.rank));
  return value->data();
}

void nagaya_xmp_put(const char* where, nagaya_xmp_coarray* coarray, const volatile void* place,
                    long image, const void* value, unsigned long bytes) {
  const nagaya_window_target to = target_of(where, *coarray, place, image, bytes);
  const nagaya_window_buffer from = {const_cast<void*>(value), bytes, nullptr, 0};
  const State& state = *coarray->state;
  check(where, state, "a put to", nagaya_window_put(state.window, &from, &to));
  check(where, state, "a put to", nagaya_window_flush(state.window, to.rank));
}

namespace {

// Applies REPLACE or NO_OP to an integer of another machine, and returns the value from before.
long fetch(const char* where, const nagaya_xmp_coarray& coarray, const volatile void* place,
           long image, unsigned long bytes, const long* operand) {
  const nagaya_window_target at = target_of(where, coarray, place, image, bytes);
  const auto type = bytes == sizeof(int) ? NAGAYA_ELEMENT_INT32 : NAGAYA_ELEMENT_INT64;
  long before = 0;
  check(where, *coarray.state, "an atomic access to",
        nagaya_window_fetch_and_op(
            coarray.state->window, operand, &before, at.rank, at.displacement, type,
            operand == nullptr ? NAGAYA_REDUCE_NO_OP : NAGAYA_REDUCE_REPLACE));
  check(where, *coarray.state, "an atomic access to",
        nagaya_window_flush(coarray.state->window, at.rank));
  return bytes == sizeof(int) ? static_cast<int>(before) : before;
}

}  // namespace

void nagaya_xmp_atomic_define(const char* where, nagaya_xmp_coarray* coarray, volatile void* place,
                              long image, unsigned long bytes, long value) {
  void* const here = nagaya_xmp_behind(place, nagaya_xmp_offset(coarray, image));
  if (here == nullptr)
    fetch(where, *coarray, place, image, bytes, &value);
  else if (bytes == sizeof(int))
    __atomic_store_n(static_cast<int*>(here), static_cast<int>(value), __ATOMIC_SEQ_CST);
  else
    __atomic_store_n(static_cast<long*>(here), value, __ATOMIC_SEQ_CST);
}

long nagaya_xmp_atomic_ref(const char* where, nagaya_xmp_coarray* coarray, volatile void* place,
                           long image, unsigned long bytes) {
  void* const here = nagaya_xmp_behind(place, nagaya_xmp_offset(coarray, image));
  if (here == nullptr) return fetch(where, *coarray, place, image, bytes, nullptr);
  return bytes == sizeof(int) ? __atomic_load_n(static_cast<int*>(here), __ATOMIC_SEQ_CST)
                              : __atomic_load_n(static_cast<long*>(here), __ATOMIC_SEQ_CST);
}

namespace {

const ProcessSet& set_of_nodes(xmp_desc_t nodes, const char* function) {
  const auto* const of = object_of<nagaya_xmp_nodes>(nodes, XMP_DESC_NODES);
  if (of == nullptr)
    fail(nullptr, std::string(function) + ": its last argument is no descriptor of nodes");
  return of->set;
}

}  // namespace

void xmp_get_primary_image_index(int number, const int index[], int primary[], xmp_desc_t nodes) {
  const ProcessSet& set = set_of_nodes(nodes, "xmp_get_primary_image_index");
  for (int n = 0; n < number; ++n)
    primary[n] = static_cast<int>(rank_of_image("", set, index[n], "xmp_get_primary_image_index"));
}

void xmp_get_image_index(int number, const int index[], int current[], xmp_desc_t nodes) {
  const ProcessSet& set = set_of_nodes(nodes, "xmp_get_image_index");
  for (int n = 0; n < number; ++n)
    current[n] = static_cast<int>(
        Executing::now().index_of(rank_of_image("", set, index[n], "xmp_get_image_index")));
}
