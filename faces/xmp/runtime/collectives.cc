// SPDX-License-Identifier: BSD-3-Clause
// collectives.cc - the directives barrier, bcast and reduction.
#include <errno.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "faces/xmp/runtime/asynchronous.h"
#include "faces/xmp/runtime/executing.h"
#include "faces/xmp/runtime/failure.h"
#include "faces/xmp/runtime/located.h"
#include "faces/xmp/runtime/reductions.h"
#include "faces/xmp/runtime/reference.h"
#include "faces/xmp/runtime/translated.h"
#include "nagaya/coll.h"
#include "nagaya/llcl.h"
#include "nagaya/match.h"

namespace nagaya::xmp {
namespace {

// One collective operation, blocking (run) or asynchronous (start).
class Collective : public Asynchronous {
 public:
  nagaya_collective what = {};
  std::unique_ptr<Located> located;  // nullptr: no reduction with locations

  void run(const char* where, ProcessSet& set) {
    if (const int error = nagaya_coll_run(&set.team_of_next(where), &what); error != 0)
      end(where, error);
    finish();
  }
  void start(const char* where, ProcessSet& set) {
    if (const int error = nagaya_coll_start(&set.team_of_next(where), &what); error != 0)
      end(where, error);
  }
  bool is_complete() override {
    nagaya_match_progress();
    const int error = nagaya_llcl_wait(is_over, &what, 0);
    if (error == -ETIMEDOUT) return false;
    if (error != 0) end("", error);
    wait("");
    return true;
  }
  void wait(const char* where) override {
    if (const int error = nagaya_llcl_wait(is_over, &what, -1); error != 0) end(where, error);
    if (what.error != 0) end(where, what.error);
    finish();
  }

 private:
  static int is_over(void* what) {
    return __atomic_load_n(&static_cast<nagaya_collective*>(what)->is_complete, __ATOMIC_ACQUIRE) !=
           0;
  }
  void finish() {
    if (located != nullptr) located->unpack();
  }
  [[noreturn]] static void end(const char* where, int error) {
    fail(where, "a collective has failed: " + reason_of(error));
  }
};

void run_or_start(const char* where, ProcessSet& set, std::unique_ptr<Collective> collective,
                  const long* async) {
  if (async == nullptr) return collective->run(where, set);
  collective->start(where, set);
  add_operation(*async, std::move(collective));
}

// Returns the set of *on if it has the caller and another member; nullptr: the caller has nothing
// to do. The program fails unless the executing nodes contain the set.
ProcessSet* communicating_set(const char* where, const char* what, const nagaya_xmp_on* on) {
  ProcessSet* const set = set_of(where, on);
  if (set != nullptr) check_executing(where, what, *set);
  return set != nullptr && set->has_caller() && set->size() > 1 ? set : nullptr;
}

// Makes each element 0 or 1, so that the result of a logical operation is 0 or 1 even if the set
// has only one process.
void make_logical(nagaya_xmp_type type, void* data, size_t count) {
  reduction_of(NAGAYA_XMP_OR, type)(nullptr, data, data, count);
}

uint32_t root_of(const char* where, const nagaya_xmp_on* from, const ProcessSet& set) {
  if (from == nullptr) return 0;
  const ProcessSet* const source = set_of(where, *from);
  if (source != nullptr && source->size() != 1)
    fail(where,
         "bcast: its `from` is " + std::to_string(source->size()) + " nodes: name one of them");
  const int64_t place = source == nullptr ? -1 : set.index_of(source->job_rank(0));
  if (place < 0) fail(where, "bcast: its `from` is none of the nodes that get the data");
  return static_cast<uint32_t>(place);
}

}  // namespace
}  // namespace nagaya::xmp

using nagaya::xmp::Collective;
using nagaya::xmp::fail;
using nagaya::xmp::ProcessSet;

void nagaya_xmp_barrier(const char* where, const nagaya_xmp_on* on) {
  ProcessSet* const set = nagaya::xmp::communicating_set(where, "the barrier", on);
  if (set == nullptr) return;
  Collective barrier;
  barrier.what.kind = NAGAYA_BARRIER;
  barrier.run(where, *set);
}

void nagaya_xmp_bcast(const char* where, void* data, unsigned long bytes, const nagaya_xmp_on* from,
                      const nagaya_xmp_on* on, const long* async) {
  ProcessSet* const set = nagaya::xmp::communicating_set(where, "the bcast", on);
  if (set == nullptr) return;
  auto bcast = std::make_unique<Collective>();
  bcast->what.kind = NAGAYA_BCAST;
  bcast->what.root = nagaya::xmp::root_of(where, from, *set);
  const bool is_root = set->own_index() == int64_t{bcast->what.root};
  nagaya_blocks& side = is_root ? bcast->what.send : bcast->what.receive;
  side.base = data;
  side.bytes = bytes;
  run_or_start(where, *set, std::move(bcast), async);
}

void nagaya_xmp_reduce(const char* where, nagaya_xmp_operation operation, nagaya_xmp_type type,
                       void* data, unsigned long count, const nagaya_xmp_locations* locations,
                       const nagaya_xmp_on* on, const long* async) {
  using namespace nagaya::xmp;
  Reduce* const reduce = reduction_of(operation, type);
  if (reduce == nullptr) fail(where, "reduction: its operation is not defined for this type");
  const bool is_logical =
      operation == NAGAYA_XMP_AND || operation == NAGAYA_XMP_OR || operation == NAGAYA_XMP_XOR;
  if (is_logical && has_caller(where, on)) make_logical(type, data, count);
  ProcessSet* const set = communicating_set(where, "the reduction", on);
  if (set == nullptr || count == 0) return;
  auto reduction = std::make_unique<Collective>();
  nagaya_elements& elements = reduction->what.elements;
  reduction->what.kind = NAGAYA_ALLREDUCE;
  elements.commutes = 1;
  if (locations == nullptr) {
    reduction->what.send.base = reduction->what.receive.base = data;
    elements.count = count;
    elements.extent = bytes_of(type);
    elements.reduce = reduce;
  } else {
    reduction->located = std::make_unique<Located>(where, operation, type, data, count, *locations,
                                                   set->own_index());
    reduction->located->describe(reduction->what);
  }
  run_or_start(where, *set, std::move(reduction), async);
}

void* nagaya_xmp_copy(const char* where, const void* data, unsigned long bytes) {
  void* const copy = std::malloc(bytes != 0 ? bytes : 1);
  if (copy == nullptr)
    nagaya::xmp::fail(where, "reduction: no memory for a copy of " + std::to_string(bytes) +
                                 " bytes of its variable");
  return std::memcpy(copy, data, bytes);
}

void nagaya_xmp_free_copy(void* copy) {
  std::free(copy);
}
